// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/promote.h"

#include <gtest/gtest.h>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

// The name is taken by an input and by an output that is something else.
TEST(Promote, NamesThatAreTakenGetANumber) {
  Analysed result(R"(
call n in pass 0
graph n(%h: float32[1]) {
  %c = constant float32[1] [5]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%h, alpha=1)
  %1: float32[1] = aten::neg(self=%0)
  return (h_1=%1)
}
memory @m = float32[1] [5]
wrote @m float32[1]
holds @m float32[1] = %0
constant %c named "h" copied overwritten in @m float32[1]
)");
  EXPECT_EQ(result.ports(), "n(h, h_2 = n/h_2 of the pass before) -> (h_1, h_2)\n");
}

TEST(Promote, DotsAndSlashesDoNotStandInPorts) {
  Analysed result(R"(
call n in pass 0
graph n(%x: float32[1]) {
  %c = constant float32[1] [5]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  return (y=%x)
}
memory @m = float32[1] [5]
wrote @m float32[1]
holds @m float32[1] = %0
constant %c copied overwritten in @m float32[1]
buffer "a.b/c" declared in @m float32[1]
)");
  EXPECT_EQ(result.ports(), "n(x, a_b_c = n/a_b_c of the pass before) -> (y, a_b_c)\n");
}

TEST(Promote, AValueOfAnEarlierCallThatTheFirstDidNotComputeStaysAConstant) {
  Analysed result(R"(
call n in pass 0
graph n(%x: float32[1]) {
  %c = constant float32[1] [5]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  return (y=%0)
}
call n in pass 1
graph n(%x: float32[1]) {
  %c = constant float32[1] [5]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  %1: float32[1] = aten::neg(self=%0)
  return (y=%0)
}
keep %1
call n in pass 2
graph n(%x: float32[1]) {
  %c = constant float32[1] [6]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  return (y=%0)
}
constant %c from n %1 of pass 1
)");
  EXPECT_EQ(result.ports(), "n(x) -> (y)\n");
  EXPECT_NE(result.log().find("the first call of 'n' computed no such value"), std::string::npos) << result.log();
}

// A constant that differed because it is state is no difference any more.
TEST(Promote, WhatStateExplainsIsNoDifference) {
  Analysed result(R"(
call n in pass 0
graph n(%x: float32[1]) {
  %c = constant float32[1] [0]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  return (y=%0)
}
keep %0
call n in pass 1
graph n(%x: float32[1]) {
  %c = constant float32[1] [9]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  return (y=%0)
}
keep %0
call n in pass 2
graph n(%x: float32[1]) {
  %c = constant float32[1] [10]
  %0: float32[1] = aten::add.Tensor(self=%c, other=%x, alpha=1)
  return (y=%0)
}
constant %c named "c" from n/y of pass 1
)");
  EXPECT_EQ(result.ports(), "n(x, c = n/y of the pass before) -> (y)\n");
  EXPECT_EQ(result.divergences("n"), "");
  EXPECT_EQ(result.samples_of_input("n", "c"), "[0] [9] [10]");
}

}  // namespace
}  // namespace leapp::capture
