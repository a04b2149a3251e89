// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/bisect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "graph/text.h"

namespace leapp::exporter {
namespace {

graph::Constant numbers(std::vector<float> values) {
  graph::Constant constant{{DType::kFloat32, {static_cast<std::int64_t>(values.size())}}, nullptr};
  const auto owner = std::make_shared<std::vector<float>>(std::move(values));
  constant.data = std::shared_ptr<const void>(owner, owner->data());
  return constant;
}

const float* elements(const graph::Constant& constant) { return static_cast<const float*>(constant.data.get()); }

// aten::double and aten::log of two numbers; cannot do aten::rand.
std::optional<std::vector<graph::Constant>> evaluate(const graph::Node& node) {
  if (node.is_random()) return std::nullopt;
  const float* x = elements(node.inputs()[0]->constant());
  if (node.op() == "aten::log") return std::vector{numbers({std::log(x[0]), std::log(x[1])})};
  return std::vector{numbers({x[0] * 2, x[1] * 2})};
}

/// A model that computes what the graph says, but for the values it is told.
class FakeModel final : public Intermediates {
 public:
  explicit FakeModel(std::map<std::string, graph::Constant> values) : values_(std::move(values)) {}

  [[nodiscard]] bool has(const graph::Value& value) const override { return values_.contains(value.name()); }
  Result<Values> compute(const std::vector<const graph::Value*>& values) override {
    windows.push_back(values.size());
    if (broken) return internal_error("the engine is on fire");
    Values found;
    for (const graph::Value* value : values) found.emplace_back(values_.at(value->name()));
    return found;
  }

  std::vector<std::size_t> windows;
  bool broken = false;

 private:
  std::map<std::string, graph::Constant> values_;
};

constexpr const char* kChain = R"(graph (%x: float32[2]) {
  %a: float32[2] = aten::double(self=%x)
  %b: float32[2] = aten::double(self=%a)
  %c: float32[2] = aten::double(self=%b)
  return (y=%c)
}
)";

class Bisect : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = std::make_unique<graph::Graph>(graph::parse(kChain).value());
    request_ = {
        .graph = graph_.get(), .inputs = {numbers({1, 2})}, .recorded = {numbers({8, 16})}, .tolerance = Tolerance{}};
  }
  Bisection run() { return bisect(request_, model_, {evaluate}); }

  std::unique_ptr<graph::Graph> graph_;
  BisectRequest request_;
  FakeModel model_{{{"a", numbers({2, 4})}, {"b", numbers({4, 8})}, {"c", numbers({8, 16})}}};
};

TEST_F(Bisect, NamesTheFirstThatDiffers) {
  FakeModel model({{"a", numbers({2, 4})}, {"b", numbers({4, 9})}, {"c", numbers({8, 18})}});
  const Bisection found = bisect(request_, model, {evaluate});
  EXPECT_EQ(found.outcome, Bisection::Outcome::kFirst);
  EXPECT_EQ(found.position, 2U);
  EXPECT_EQ(found.operators, 3U);
  EXPECT_EQ(found.difference, "1 of 2 elements (50 %) differ, |diff| max 1");
  EXPECT_EQ(model.windows, std::vector<std::size_t>{3});
}

TEST_F(Bisect, ValuesThatTheModelLacksArePassedOver) {
  FakeModel model({{"c", numbers({8, 18})}});
  EXPECT_EQ(bisect(request_, model, {evaluate}).position, 3U);
}

TEST_F(Bisect, AModelThatDoesWhatWasCaptured) {
  request_.recorded = {numbers({7, 7})};
  EXPECT_EQ(run().outcome, Bisection::Outcome::kSame);
}

TEST_F(Bisect, ADifferenceThatOnlyTheOptimiserMakes) { EXPECT_EQ(run().outcome, Bisection::Outcome::kHidden); }

TEST_F(Bisect, IsBoundedInMemoryAndTime) {
  request_.limits.bytes = 16;  // two values
  std::vector<std::string> lines;
  request_.progress = [&](const std::string& line) { lines.push_back(line); };
  EXPECT_EQ(run().position, 3U);
  EXPECT_EQ(model_.windows, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(lines, (std::vector<std::string>{"0 of 3 operators compared", "2 of 3 operators compared"}));
  request_.limits.bytes = 1;
  model_.windows.clear();
  EXPECT_EQ(run().position, 3U);
  EXPECT_EQ(model_.windows, (std::vector<std::size_t>{1, 1, 1}));
  request_.limits.time = std::chrono::milliseconds(-1);
  EXPECT_EQ(run().outcome, Bisection::Outcome::kUnknown);
  EXPECT_EQ(run().note, "gave up after 0 s");
}

TEST_F(Bisect, AnEngineThatFailsIsQuoted) {
  model_.broken = true;
  EXPECT_EQ(run().outcome, Bisection::Outcome::kUnknown);
  EXPECT_EQ(run().note, "the engine is on fire");
}

TEST_F(Bisect, NanOfBothSidesCountsWhenItsOriginIsWanted) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const graph::Graph graph = graph::parse(R"(graph (%x: float32[2]) {
  %a: float32[2] = aten::log(self=%x)
  %b: float32[2] = aten::double(self=%a)
  return (y=%b)
}
)")
                                 .value();
  FakeModel model({{"a", numbers({0, kNan})}, {"b", numbers({0, kNan})}});
  BisectRequest request{.graph = &graph, .inputs = {numbers({1, -1})}, .recorded = {numbers({0, kNan})}};
  request.nan_is_wrong = true;
  EXPECT_EQ(bisect(request, model, {evaluate}).position, 1U);
  request.nan_is_wrong = false;
  EXPECT_NE(bisect(request, model, {evaluate}).outcome, Bisection::Outcome::kFirst);
}

TEST_F(Bisect, WhatIsRandomIsNotCompared) {
  const graph::Graph graph = graph::parse(R"(graph (%x: float32[2]) {
  %a: float32[2] = random aten::rand(self=%x)
  %b: float32[2] = aten::double(self=%a)
  %c: float32[2] = aten::double(self=%x)
  return (y=%b, z=%c)
}
)")
                                 .value();
  FakeModel model({{"a", numbers({0, 3})}, {"b", numbers({0, 6})}, {"c", numbers({2, 5})}});
  const BisectRequest request{
      .graph = &graph, .inputs = {numbers({1, 2})}, .recorded = {std::nullopt, numbers({2, 4})}};
  EXPECT_EQ(bisect(request, model, {evaluate}).position, 3U);
}

}  // namespace
}  // namespace leapp::exporter
