// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/path_reads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

// Two products at one line, of which the second reads what is kept.
constexpr const char* kTwoTurns = R"(
call n in pass 0
graph n(%x: float32[2]) {
  %w = constant float32[2] [1, 2]
  %h = constant float32[2] [3, 4]
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":1
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":1
  %3: float32[2] = aten::mul.Tensor(self=%x, other=%w)  @ "p.py":2
  %4: float32[2] = aten::mul.Tensor(self=%3, other=%h)  @ "p.py":2
  return (y=%4)
}
guard %2 true at "p.py":1
keep %3
call n in pass 1
graph n(%x: float32[2]) {
  %w = constant float32[2] [1, 2]
  %h = constant float32[2] [5, 6]
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":1
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":1
  %3: float32[2] = aten::add.Tensor(self=%x, other=%w, alpha=1)  @ "p.py":3
  %4: float32[2] = aten::mul.Tensor(self=%3, other=%h)  @ "p.py":2
  return (y=%4)
}
guard %2 false at "p.py":1
constant %h from n %3 of pass 0
)";

class PathReadsTest : public ::testing::Test {
 protected:
  PathReadsTest() : calls_(kTwoTurns), paths_{&calls_.node("n"), calls_.node("n").others.at(0).get()} {}

  testing::RecordedCalls calls_;
  std::vector<NodeRecord*> paths_;
};

TEST_F(PathReadsTest, TurnsOfOneLineAreToldApart) {
  const PathReads reads(*paths_[0]);
  ASSERT_EQ(reads.all().size(), 2U);
  const CallPoint* first = reads.point_of(reads.all()[0].use);
  const CallPoint* second = reads.point_of(reads.all()[1].use);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->op, second->op);
  EXPECT_EQ(first->location, second->location);
  EXPECT_EQ(first->turn, 0U);
  EXPECT_EQ(second->turn, 1U);
  EXPECT_EQ(reads.at(*second), &reads.all()[1]);
}

TEST_F(PathReadsTest, AnInputIsNoRead) {
  const PathReads reads(*paths_[0]);
  for (const Read& read : reads.all()) EXPECT_EQ(read.value->kind, TracedKind::kConstant);
  EXPECT_EQ(reads.point_of(PathReads(*paths_[1]).all()[0].use), nullptr);
}

TEST_F(PathReadsTest, WhatTheNodeLeftIsKnownByWhoMadeIt) {
  const PathHistory history(paths_);
  EXPECT_EQ(history.path_in.at(0), 0U);
  EXPECT_EQ(history.path_of_call.at(1), 1U);
  const Read* former = nullptr;
  for (const Read& read : history.reads[1].all()) {
    if (history.is_own_former(1, read)) former = &read;
  }
  ASSERT_NE(former, nullptr);
  const auto source = history.own_source(*former, 1);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->delay, 1U);
  const ValuePtr made = history.value_of(0, *source);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(bare(made)->op->info->name(), "aten::mul");
  EXPECT_EQ(history.value_of(1, *source), nullptr);  // that path made no such thing
}

}  // namespace
}  // namespace leapp::capture
