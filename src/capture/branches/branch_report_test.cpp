// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/branch_report.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::RecordedCalls;
using testing::TestLog;

// while y.sum() > 0: y = y - 1, so many rounds
std::string counted_call(int pass, int rounds) {
  std::string ops;
  std::string guards;
  std::string y = "x";
  for (int round = 0; round <= rounds; ++round) {
    ops += fmt::format("  %s{0}: float32[] = aten::sum(self=%{1}, dtype=None)  @ \"p.py\":1\n", round, y);
    ops += fmt::format("  %g{0}: bool[] = aten::gt.Scalar(self=%s{0}, other=0)  @ \"p.py\":1\n", round);
    guards += fmt::format("guard %g{} {} at \"p.py\":1\n", round, round < rounds);
    if (round == rounds) break;
    ops += fmt::format("  %y{}: float32[2] = aten::sub.Tensor(self=%{}, other=1.0, alpha=1)  @ \"p.py\":2\n", round, y);
    y = fmt::format("y{}", round);
  }
  ops += fmt::format("  %z: float32[2] = aten::neg(self=%{})  @ \"p.py\":3\n", y);
  return fmt::format("call n in pass {}\ngraph n(%x: float32[2]) {{\n{}  return (z=%z)\n}}\n{}", pass, ops, guards);
}

TEST(GuardReport, RoundsOfALoopAreCountedEachByItself) {
  RecordedCalls calls(counted_call(0, 1) + counted_call(1, 0) + counted_call(2, 1));
  const NodeRecord& node = calls.node("n");
  ASSERT_EQ(node.guard_counts.size(), 2);
  const auto& [first, count] = *node.guard_counts.begin();
  EXPECT_EQ(guard_text(first, count), "p.py:1: branches on data, aten::is_nonzero: 2 times yes, 1 times no");
  const auto& [second, later] = *node.guard_counts.rbegin();
  EXPECT_EQ(guard_text(second, later),
            "p.py:1: branches on data, aten::is_nonzero in round 2: 0 times yes, 2 times no");
}

TEST(GuardReport, WhatWentOneWayIsWarnedOfOnceALine) {
  RecordedCalls calls(counted_call(0, 1) + counted_call(1, 0));
  TestLog log;
  EXPECT_EQ(report_guards(calls.node("n"), log.log()).size(), 1);
  EXPECT_NE(log.text().find("was false in the only case in round 2, never true"), std::string::npos) << log.text();
}

TEST(GuardReport, AConstantDependsOnNothing) {
  RecordedCalls calls(counted_call(0, 0));
  EXPECT_TRUE(depends(calls.node("n").guards[0].value, {}));
}

}  // namespace
}  // namespace leapp::capture
