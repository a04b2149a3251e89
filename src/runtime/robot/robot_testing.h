// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A small robot's bundle for tests, on LEAPP's own engine.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/native/model_testing.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {

/// One node, "policy", 50 Hz:
///   inputs   q [1,3] (state/joint/position; hip, knee, ankle), v [1,3] (state/joint/velocity; the same)
///   outputs  action [1,3] = q + v + h (target/joint/position; the same), chunk [1,4,3] = q * (0, 1, 2, 3) (10 ms
///   apart) state    h [1,3] = h / 2 + q, begins as (1, 2, 3)
class RobotBundle {
 public:
  explicit RobotBundle(const std::string& name) : bundle_(name) {
    native::ModelMaker maker;
    maker.input("q", {1, 3}).input("v", {1, 3}).input("h_in", {1, 3});
    maker.output("action", {1, 3}).output("chunk", {1, 4, 3}).output("h_out", {1, 3});
    maker.floats("half", {}, {0.5F}).floats("ramp", {1, 4, 1}, {0, 1, 2, 3}).ints("rows", {1, 1, 3});
    maker.node("Add", {"q", "v"}, {"sum"}).node("Add", {"sum", "h_in"}, {"action"});
    maker.node("Reshape", {"q", "rows"}, {"row"}).node("Mul", {"row", "ramp"}, {"chunk"});
    maker.node("Mul", {"h_in", "half"}, {"halved"}).node("Add", {"halved", "q"}, {"h_out"});
    bundle_.write_file("policy.onnx", maker.bytes());
    const std::vector<bundle::AxisNames> joints{std::nullopt, std::vector<std::string>{"hip", "knee", "ankle"}};
    const auto port = [&](const char* name, const char* kind) {
      bundle::Port made{.name = name, .shape = {1, 3}};
      made.element_names = joints;
      if (kind != nullptr) made.kind = kind;
      return made;
    };
    bundle::Model model{.name = "policy", .inputs = {}, .outputs = {}, .parameters = {}};
    model.inputs = {port("q", "state/joint/position"), port("v", "state/joint/velocity"), port("h_in", nullptr)};
    bundle::Port chunk{.name = "chunk", .shape = {1, 4, 3}};
    chunk.element_names = {std::nullopt, std::nullopt, joints[1]};
    chunk.temporal_axis = bundle::TemporalAxis{1, 10};
    model.outputs = {port("action", "target/joint/position"), chunk, port("h_out", nullptr)};
    model.parameters = {.backend = "onnx", .model_path = "policy.onnx"};
    spec().models = {model};
    spec().pipeline.configs = {{"frequency", 50.0}};
    spec().pipeline.feedback_flow = {{"policy/h_out", {"policy/h_in"}}};
    spec().pipeline.inputs = {{"policy", {"q", "v"}}};
    spec().pipeline.outputs = {{"policy", {"action", "chunk"}}};
    bundle_.initial = {{"policy/h_in", {1, 2, 3}}};
    bundle_.shape = {1, 3};
  }

  bundle::BundleSpec& spec() { return bundle_.spec; }
  [[nodiscard]] const fs::path& folder() const { return bundle_.folder(); }
  fs::path write() { return bundle_.write(); }
  void drop_initial_values() { bundle_.initial.clear(); }

  Pipeline load() {
    LoadOptions options;
    options.engine.prefer = engine::Prefer::kNative;
    auto pipeline = Pipeline::load(write(), options);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
    return std::move(pipeline).value();
  }

 private:
  TestBundle bundle_;
};

/// That `status` is of that code and its message has all of `words`.
inline void expect_refused(const Status& status, StatusCode code, const std::vector<std::string>& words) {
  EXPECT_EQ(status.code(), code) << status.message();
  for (const std::string& word : words) {
    EXPECT_NE(status.message().find(word), std::string::npos) << "no " << word << " in: " << status.message();
  }
}

inline std::vector<float> values_of(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace leapp::runtime
