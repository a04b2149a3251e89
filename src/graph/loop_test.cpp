// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/loop.h"

#include <gtest/gtest.h>

#include "graph/conditional.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

constexpr const char* kLoopText = R"(graph (%n: int64[], %x: float32[2], %w: float32[2]) {
  %p = constant bool[] [True]
  %y: float32[2], %z: float32[2] = leapp::loop(count=%n, condition=%p, carried=[%x, %x], operands=[%w], body=graph (%round: int64[], %a: float32[2], %b: float32[2], %w: float32[2]) {
    %go_on = constant bool[] [True]
    %0: float32[2] = aten::mul.Tensor(self=%a, other=%w)
    %1: float32[2] = aten::add.Tensor(self=%b, other=%round, alpha=1)
    return (0=%go_on, 1=%0, 2=%1)
  })
  return (y=%y, z=%z)
}
)";

std::string exchanged(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint_about(const std::string& text) {
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? verify(graph.value()).message() : "";
}

TEST(LoopNode, IsPrintedParsedAndVerified) {
  auto graph = parse(kLoopText);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(print(graph.value()), kLoopText);
  EXPECT_TRUE(verify(graph.value()).ok()) << verify(graph.value()).message();
  const LoopNode loop = loop_of(**std::next(graph.value().nodes().begin(), 0));
  EXPECT_TRUE(is_counted(loop));
  EXPECT_EQ(operator_count(graph.value()), 2U);
}

TEST(LoopNode, TypesThatDisagreeAreFound) {
  EXPECT_NE(complaint_about(exchanged(kLoopText, "%n: int64[]", "%n: int64[1]")).find("a count of type int64[]"),
            std::string::npos);
  EXPECT_NE(complaint_about(exchanged(kLoopText, "%b: float32[2], %w", "%b: float32[3], %w")).find("disagree"),
            std::string::npos);
  EXPECT_NE(complaint_about(exchanged(kLoopText, "0=%go_on, 1=%0, 2=%1", "0=%go_on, 1=%0")).find("outputs"),
            std::string::npos);
}

TEST(LoopNode, WhatNobodyReadsIsNotCarried) {
  const std::string text = exchanged(kLoopText, "return (y=%y, z=%z)", "return (y=%y)");
  EXPECT_EQ(testing::after(text, eliminate_dead_code),
            R"(graph (%n: int64[], %x: float32[2], %w: float32[2]) {
  %p = constant bool[] [True]
  %y: float32[2] = leapp::loop(count=%n, condition=%p, carried=[%x], operands=[%w], body=graph (%round: int64[], %a: float32[2], %w: float32[2]) {
    %go_on = constant bool[] [True]
    %0: float32[2] = aten::mul.Tensor(self=%a, other=%w)
    return (0=%go_on, 1=%0)
  })
  return (y=%y)
}
)");
}

TEST(LoopNode, WhatAnotherRoundReadsIsCarried) {
  std::string text = exchanged(kLoopText, "return (y=%y, z=%z)", "return (y=%y)");
  text = exchanged(text, "self=%a, other=%w", "self=%b, other=%w");
  EXPECT_NE(testing::after(text, eliminate_dead_code).find("carried=[%x, %x]"), std::string::npos);
}

}  // namespace
}  // namespace leapp::graph
