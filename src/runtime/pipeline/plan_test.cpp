// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "runtime/pipeline/buffers.h"

namespace leapp::runtime {
namespace {

bundle::Port port(const std::string& name) { return {.name = name, .dtype = DType::kFloat32, .shape = {3}}; }

// a → b → c, b's state fed back to b and, delayed, to a.
bundle::BundleSpec example() {
  bundle::BundleSpec spec;
  spec.models = {
      {.name = "a", .inputs = {port("x"), port("last")}, .outputs = {port("f")}, .parameters = {}},
      {.name = "b", .inputs = {port("f"), port("h_in")}, .outputs = {port("y"), port("h_out")}, .parameters = {}},
      {.name = "c", .inputs = {port("y"), port("f")}, .outputs = {port("z")}, .parameters = {}},
  };
  spec.pipeline.data_flow = {{"a/f", {"b/f", "c/f"}}, {"b/y", {"c/y"}}};
  spec.pipeline.feedback_flow = {{"b/h_out", {"b/h_in", "a/last"}}};
  spec.pipeline.inputs = {{"a", {"x"}}};
  spec.pipeline.outputs = {{"c", {"z"}}, {"b", {"y"}}};
  return spec;
}

PipelinePlan plan_of(const bundle::BundleSpec& spec) { return make_plan(spec, bundle::check_wiring(spec).value()); }

TEST(PipelinePlan, ProducerAndConsumerShareOneBuffer) {
  const PipelinePlan plan = plan_of(example());
  ASSERT_EQ(plan.nodes.size(), 3U);
  EXPECT_EQ(plan.nodes[0].outputs[0].buffer, plan.nodes[1].inputs[0].buffer);
  EXPECT_EQ(plan.nodes[0].outputs[0].buffer, plan.nodes[2].inputs[1].buffer);
  EXPECT_EQ(plan.nodes[1].outputs[0].buffer, plan.nodes[2].inputs[0].buffer);
  // Outputs of nodes: f, y, h_out, z. Further: the input x, a's own copy of the state, two published outputs.
  EXPECT_EQ(plan.buffers.size(), 8U);
  // Nothing is copied but what the caller gets, and the state for its second reader.
  EXPECT_EQ(plan.copies.size(), 3U);
}

TEST(PipelinePlan, FeedbackTakesTurnsInTwoBuffers) {
  const PipelinePlan plan = plan_of(example());
  const Place written = plan.nodes[1].outputs[1];
  const Place read = plan.nodes[1].inputs[1];
  EXPECT_EQ(written.buffer, read.buffer);
  EXPECT_TRUE(plan.buffers[read.buffer].doubled);
  const Buffers buffers = std::move(Buffers::allocate(plan.buffers)).value();
  for (const unsigned parity : {0U, 1U}) {
    EXPECT_NE(buffers.at(written, parity), buffers.at(read, parity));
    EXPECT_EQ(buffers.at(written, parity), buffers.at(read, 1 - parity));
  }
  EXPECT_TRUE(plan.nodes[1].alternates);
  EXPECT_FALSE(plan.nodes[2].alternates);
  ASSERT_EQ(plan.states.size(), 2U);
  EXPECT_EQ(plan.states[0].name, "b/h_in");
  EXPECT_EQ(plan.states[1].name, "a/last");
  EXPECT_FALSE(plan.buffers[plan.states[1].place.buffer].doubled);
}

TEST(PipelinePlan, WhatTheCallerGetsIsItsOwn) {
  const PipelinePlan plan = plan_of(example());
  std::set<std::size_t> used;
  for (const NodePlan& node : plan.nodes) {
    for (const Place& place : node.inputs) used.insert(place.buffer);
    for (const Place& place : node.outputs) used.insert(place.buffer);
  }
  ASSERT_EQ(plan.outputs.size(), 2U);
  EXPECT_EQ(plan.outputs[0].name, "c/z");
  for (const EndPlan& output : plan.outputs) EXPECT_FALSE(used.contains(output.place.buffer)) << output.name;
}

TEST(Buffers, AreAlignedApartAndZero) {
  std::vector<BufferPlan> plans{{DType::kFloat32, {3}, true},
                                {DType::kFloat64, {0, 5}, false},
                                {DType::kBool, {}, false},
                                {DType::kFloat16, {33}, true}};
  const auto made = Buffers::allocate(plans);
  ASSERT_TRUE(made.ok());
  const Buffers& buffers = made.value();
  std::set<const std::byte*> places;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const bool next : {false, true}) {
      const std::byte* place = buffers.at({i, next}, 0);
      ASSERT_NE(place, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % Buffers::kAlignment, 0U);
      EXPECT_TRUE(places.insert(place).second || !plans[i].doubled);
      for (std::size_t at = 0; at < buffers.size(i); ++at) EXPECT_EQ(place[at], std::byte{0});
    }
  }
  EXPECT_EQ(places.size(), 6U);
}

TEST(Buffers, CanBeFilledWithOnes) {
  for (int i = 0; i < 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto made = Buffers::allocate({{dtype, {2}, true}});
    ASSERT_TRUE(made.ok());
    made.value().fill(0, dtype, true);
    const std::byte* second = made.value().at({0, true}, 0) + dtype_size(dtype);
    float single = 0;
    double twice = 0;
    if (dtype == DType::kFloat32) {
      std::memcpy(&single, second, sizeof single);
      EXPECT_EQ(single, 1);
    } else if (dtype == DType::kFloat64) {
      std::memcpy(&twice, second, sizeof twice);
      EXPECT_EQ(twice, 1);
    } else if (dtype == DType::kBFloat16) {
      std::memcpy(reinterpret_cast<std::byte*>(&single) + 2, second, 2);  // a float's upper half
      EXPECT_EQ(single, 1);
    } else if (dtype != DType::kFloat16) {
      EXPECT_EQ(*second, std::byte{1}) << dtype_name(dtype);
    }
  }
}

TEST(Buffers, TooMuchIsAnErrorNotACrash) {
  const std::int64_t large = std::int64_t{1} << 31;
  EXPECT_FALSE(Buffers::allocate({{DType::kFloat32, {large, large, large}, false}}).ok());
  EXPECT_FALSE(Buffers::allocate({{DType::kFloat64, {large}, true}, {DType::kFloat64, {large}, true}}).ok());
  EXPECT_FALSE(Buffers::allocate({{DType::kFloat32, {-1}, false}}).ok());
}

}  // namespace
}  // namespace leapp::runtime
