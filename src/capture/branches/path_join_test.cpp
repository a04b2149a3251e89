// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/path_join.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::branch_call;
using testing::filling_memory_call;
using testing::leaving_call;
using testing::reading_memory_call;
using testing::says;
using testing::setting_call;

class PathJoinTest : public testing::PathTest {};

constexpr const char* kBoth = R"(graph n(%x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":1
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  %3: float32[2] = aten::add.Tensor(self=%0, other=1.0, alpha=1)  @ "p.py":3
  %4: float32[2] = aten::sub.Tensor(self=%0, other=1.0, alpha=1)  @ "p.py":4
  %5: float32[2] = aten::where.self(condition=%2, self=%3, other=%4)  @ "p.py":2
  return (y=%5)
}
)";

TEST(PathJoin, BothSidesAndTheCommonBeginningOnce) {
  Analysed result(branch_call(0, true) + branch_call(1, false) + branch_call(2, true));
  EXPECT_EQ(result.graph("n"), kBoth);
  EXPECT_EQ(result.divergences("n"), "");
  EXPECT_FALSE(says(result.log(), "[warning]")) << result.log();
}

TEST(PathJoin, WhatBothSidesComputeAlikeIsNotChosen) {
  const auto call = [](int pass, bool taken) {
    return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  %3: float32[2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":{}
  return (y=%3)
}}
guard %2 {} at "p.py":2
)",
                       pass, taken ? 3 : 4, taken);
  };
  Analysed result(call(0, true) + call(1, false));
  EXPECT_FALSE(says(result.graph("n"), "where")) << result.graph("n");
}

TEST(PathJoin, MemoryThatOnePathWritesAndAnotherReadsIsState) {
  Analysed result(reading_memory_call(0, "5, 6") + filling_memory_call(1) + reading_memory_call(2, "1, 2"));
  // Nobody reads in a call what the call itself has written: both orders of paths give the same.
  EXPECT_EQ(result.ports(), "n(x, state_0 = n/state_0 of the pass before) -> (y, state_0)\n") << result.log();
  EXPECT_TRUE(says(result.graph("n"), "aten::where.self(condition=%1, self=%x, other=%state_0)")) << result.graph("n");
}

// if x.sum() > 0: self.h = x * 3;   y = x + self.h
TEST(PathJoin, AnAttributeThatOnePathSetsAndAnotherLeavesAlone) {
  Analysed result(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0") +
                  leaving_call(2, "from n %3 of pass 0") + setting_call(3, "from n %3 of pass 0") +
                  setting_call(4, "from n %3 of pass 3"));
  EXPECT_EQ(result.ports(), "n(x, h = n/h of the pass before) -> (y, h)\n") << result.log();
  EXPECT_TRUE(says(result.graph("n"), "aten::where.self(condition=%1, self=%2, other=%h)")) << result.graph("n");
  EXPECT_EQ(result.divergences("n"), "");
}

// if x.sum() > 0: self.h = x * 3;   y = self.h: what one path gives is the state as it is.
TEST(PathJoin, AnOutputThatIsTheStateItselfOnOnePath) {
  const auto sets = [](int pass) {
    return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  %3: float32[2] = aten::mul.Tensor(self=%x, other=3.0)  @ "p.py":3
  return (y=%3)
}}
keep %3
guard %2 true at "p.py":2
)",
                       pass);
  };
  const auto reads = [](int pass, int made_in) {
    return fmt::format(R"(
call n in pass {0}
graph n(%x: float32[2]) {{
  %h = constant float32[2] [{0}, 0]
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  return (y=%h)
}}
constant %h named "h" at "p.py":4 from n/y of pass {1}
guard %2 false at "p.py":2
)",
                       pass, made_in);
  };
  Analysed result(sets(0) + reads(1, 0) + sets(2) + reads(3, 2));
  EXPECT_TRUE(says(result.graph("n"), "%3: float32[2] = aten::alias(self=%h)")) << result.graph("n");
  EXPECT_TRUE(says(result.graph("n"), "aten::where.self(condition=%1, self=%2, other=%3)")) << result.graph("n");
  EXPECT_FALSE(says(result.graph("n"), "constant")) << result.graph("n");
}

TEST_F(PathJoinTest, WhatDecidesAndWhatIsChosenAreKept) {
  record(branch_call(0, true) + branch_call(1, false));
  DecisionTree tree;
  for (std::size_t i = 0; i < paths_.size(); ++i) ASSERT_TRUE(tree.add(i, paths_[i]->guards));
  TraceBuilder builder([](auto&&...) {}, kAfterPaths);
  PathJoin join(*paths_[0], paths_, tree, {}, builder);
  ASSERT_EQ(join.answers().size(), 2U);
  EXPECT_EQ(join.answers()[0].conditions, join.answers()[1].conditions);  // one value decides for both
  join.join_outputs();
  const ValuePtr& chosen = paths_[0]->output_values[0];
  ASSERT_EQ(chosen->kind, TracedKind::kResult);
  EXPECT_EQ(chosen->op->info->name(), "aten::where");
  EXPECT_GE(chosen->op->sequence, kAfterPaths);
  ASSERT_EQ(join.choices().size(), 1U);
  EXPECT_EQ(join.choices()[0]->condition, join.answers()[0].conditions[0]);
  EXPECT_TRUE(join.unproven().empty());
}

}  // namespace
}  // namespace leapp::capture
