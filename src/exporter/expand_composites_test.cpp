// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/expand_composites.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "exporter/operator_body.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace leapp::exporter {
namespace {

graph::Graph parsed(const std::string& text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(graph.value());
}

std::set<std::string> operators(const graph::Graph& graph) {
  std::set<std::string> names;
  for (const auto& node : graph.nodes()) names.insert(node->op());
  return names;
}

/// Everything but these.
IsSupported all_but(std::set<std::string> names) {
  return [names = std::move(names)](const graph::Node& node) { return !names.contains(node.op()); };
}

void quiet(const std::string&) {}

constexpr const char* kDistance = R"(graph n(%a: float32[4, 3], %b: float32[4, 3]) {
  %0: float32[4, 3] = aten::mul.Tensor(self=%a, other=2.0)
  %1: float32[4] = aten::pairwise_distance(x1=%0, x2=%b, p=2.0, eps=1e-06, keepdim=False)  @ "robot.py":7 in "step"
  return (y=%1)
}
)";

TEST(ExpandComposites, ReplacesAnOperatorByThoseItCalls) {
  graph::Graph graph = parsed(kDistance);
  const auto changed = expand_composites(graph, all_but({"aten::pairwise_distance"}), quiet);
  ASSERT_TRUE(changed.ok()) << changed.status().message();
  EXPECT_TRUE(changed.value());
  EXPECT_TRUE(graph::verify(graph).ok()) << graph::print(graph);
  EXPECT_FALSE(operators(graph).contains("aten::pairwise_distance"));
  EXPECT_GT(graph.nodes().size(), 2U);
  for (const auto& node : graph.nodes()) {
    if (node->op() == "aten::mul") continue;
    EXPECT_EQ(node->location().line, 7) << graph::print(graph);
  }
}

TEST(ExpandComposites, GoesOnWithWhatTheyCall) {
  graph::Graph once = parsed(kDistance);
  ASSERT_TRUE(expand_composites(once, all_but({"aten::pairwise_distance"}), quiet).ok());
  ASSERT_TRUE(operators(once).contains("aten::norm")) << graph::print(once);
  graph::Graph twice = parsed(kDistance);
  const auto changed = expand_composites(twice, all_but({"aten::pairwise_distance", "aten::norm"}), quiet);
  ASSERT_TRUE(changed.ok());
  EXPECT_TRUE(changed.value());
  EXPECT_FALSE(operators(twice).contains("aten::norm")) << graph::print(twice);
}

TEST(ExpandComposites, LeavesWholeWhatEndsInSomethingUnsupported) {
  graph::Graph graph = parsed(kDistance);
  const auto changed = expand_composites(graph, all_but({"aten::pairwise_distance", "aten::sub"}), quiet);
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(changed.value());
  EXPECT_EQ(graph::print(graph), graph::print(parsed(kDistance)));
}

std::string refusal(const std::string& text) {
  const graph::Graph graph = parsed(text);
  const auto body = body_of(*graph.nodes().back());
  return body.ok() ? "a body" : body.status().message();
}

TEST(OperatorBody, IsRefusedForAKernel) {
  EXPECT_NE(refusal(R"(graph n(%x: float32[4]) {
  %0: float32[4] = aten::sin(self=%x)
  return (y=%0)
}
)")
                .find("computes on its own"),
            std::string::npos);
}

TEST(OperatorBody, IsRefusedWhereANumberLeaves) {
  EXPECT_NE(refusal(R"(graph n(%x: float32[4], %n: int64[1]) {
  %0: float32[0], %1: float32[4] = aten::tensor_split.tensor_indices_or_sections(self=%x, tensor_indices_or_sections=%n, dim=0)
  return (y=%1)
}
)"),
            "a body");
}

TEST(OperatorBody, IsRefusedForRandomNumbers) {
  EXPECT_NE(refusal(R"(graph n(%x: float32[4]) {
  %0: float32[4] = random aten::dropout(input=%x, p=0.5, train=True)
  return (y=%0)
}
)")
                .find("random"),
            std::string::npos);
}

TEST(OperatorBody, TakesConstantsAsTheyAre) {
  const graph::Graph graph = parsed(R"(graph n(%x: float32[4]) {
  %w = constant float32[4] [1.0, 2.0, 3.0, 4.0]
  %0: float32[] = aten::trapezoid.x(y=%x, x=%w, dim=-1)
  return (y=%0)
}
)");
  const auto body = body_of(*graph.nodes().back());
  ASSERT_TRUE(body.ok()) << body.status().message();
  EXPECT_EQ(body.value().inputs().size(), 1U);
  EXPECT_FALSE(body.value().constants().empty());
}

}  // namespace
}  // namespace leapp::exporter
