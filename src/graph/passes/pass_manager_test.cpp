// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pass_manager.h"

#include <gtest/gtest.h>

#include "graph/passes/dead_code.h"
#include "graph/passes/unused_inputs.h"
#include "graph/text.h"

namespace leapp::graph {
namespace {

TEST(PassManager, RunsInOrderAndReportsChange) {
  auto graph = parse("graph (%x: float32[2]) { %0: float32[2] = aten::relu(self=%x) return () }");
  ASSERT_TRUE(graph.ok());
  const std::vector<Pass> passes = {{"dead_code", eliminate_dead_code},
                                    {"unused_inputs", [](Graph& g) { return !drop_unused_inputs(g).empty(); }}};
  const auto first = run_passes(graph.value(), passes);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first.value());
  EXPECT_TRUE(graph.value().inputs().empty());
  const auto second = run_passes(graph.value(), passes);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second.value());
}

TEST(PassManager, NamesThePassThatBrokeTheGraph) {
  auto graph = parse("graph (%x: float32[2]) { return (y=%x) }");
  ASSERT_TRUE(graph.ok());
  const auto result = run_passes(graph.value(), {{"breaker", [](Graph& g) {
                                                    g.add_output("y", g.outputs().front().value);
                                                    return true;
                                                  }}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "after pass breaker: expected unique output names, found \"y\" twice");
}

}  // namespace
}  // namespace leapp::graph
