// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/state_analysis.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::kKeptInPlace;
using testing::says;

TEST(StateAnalysis, LeaksAsErrorsRefuseTheNode) {
  Analysed result(kKeptInPlace, Leaks::kError);
  EXPECT_EQ(result.ports(), "policy(obs) -> (action)\n");
  ASSERT_EQ(result.node("policy").refusals.size(), 1U);
  EXPECT_TRUE(says(result.node("policy").refusals[0], "policy.py:7: node 'policy' keeps 'h'"));
}

TEST(StateAnalysis, LeaksAsConstantsAreWarnedAbout) {
  Analysed result(kKeptInPlace, Leaks::kConstant);
  EXPECT_EQ(result.ports(), "policy(obs) -> (action)\n");
  EXPECT_TRUE(says(result.log(), "It is exported as a constant")) << result.log();
}

TEST(StateAnalysis, ANumberReadFromStateIsWarnedAbout) {
  EXPECT_FALSE(says(Analysed(kKeptInPlace).log(), "a number is read"));
  // What the number was read from is what the operator made.
  Analysed result(R"(
call policy in pass 0
graph policy(%obs: float32[2]) {
  %h = constant float32[2] [0, 0]
  %0: float32[2] = aten::add.Tensor(self=%h, other=%obs, alpha=1)
  %1: float32[] = aten::sum(self=%h, dtype=None)
  return (action=%0)
}
memory @h = float32[2] [0, 0]
wrote @h float32[2]
holds @h float32[2] = %0
constant %h copied overwritten in @h float32[2]
number %1 at "policy.py":8
)");
  EXPECT_TRUE(says(result.log(), "policy.py:8: a number is read from a tensor that node 'policy' changes"))
      << result.log();
}

}  // namespace
}  // namespace leapp::capture
