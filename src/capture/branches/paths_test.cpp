// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/paths.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_text.h"

namespace leapp::capture {
namespace {

class PathsTest : public ::testing::Test {
 protected:
  /// A call that computes `op` and then was told the facts.
  TakenPath take(const std::string& op, const std::string& facts) {
    const auto trace = parse_trace(fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %c: bool[2] = aten::gt.Scalar(self=%x, other=0)  @ "p.py":1
  %any: bool[] = aten::any(self=%c)  @ "p.py":2
  %y: float32[2] = {}  @ "p.py":9
  return (y=%y)
}}
{})",
                                               calls_, op, facts));
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    const TracedCall& call = trace.value().calls.at(0);
    if (calls_ == 0) {
      record_.name = "n";
      record_.output_values = call.trace.outputs;
    }
    CallTrace taken = call.trace;
    taken.call = calls_++;
    return take_path(record_, taken);
  }
  TakenPath branch(bool taken) {
    return take(taken ? "aten::neg(self=%x)" : "aten::abs(self=%x)",
                fmt::format("guard %any {} at \"p.py\":2\n", taken));
  }
  /// Seven rounds of a loop, each with an answer.
  TakenPath loop(unsigned answers) {
    std::string facts;
    for (unsigned bit = 0; bit < 7; ++bit)
      facts += fmt::format("guard %any {} at \"p.py\":2\n", (answers >> bit & 1U) != 0);
    return take("aten::neg(self=%x)", facts);
  }

  NodeRecord record_;
  std::size_t calls_ = 0;
};

TEST_F(PathsTest, TheSameAnswersAreTheSamePath) {
  EXPECT_TRUE(branch(true).first);
  const TakenPath other = branch(false);
  EXPECT_TRUE(other.first);
  EXPECT_NE(other.path, &record_);
  EXPECT_EQ(other.path->output_values[0]->op->info, branch(false).path->output_values[0]->op->info);
  const TakenPath again = branch(true);
  EXPECT_EQ(again.path, &record_);
  EXPECT_FALSE(again.first);
  using Calls = std::vector<std::pair<std::size_t, std::uint64_t>>;
  EXPECT_EQ(record_.taken, (Calls{{0, 0}, {3, 3}}));
  ASSERT_EQ(record_.others.size(), 1U);
  EXPECT_EQ(record_.others[0]->taken, (Calls{{1, 1}, {2, 2}}));
  EXPECT_EQ(find_path(record_, 1), record_.others[0].get());
  EXPECT_EQ(find_path(record_, 2), nullptr);
}

TEST_F(PathsTest, WithoutGuardsThereIsOnePath) {
  take("aten::neg(self=%x)", "");
  const TakenPath later = take("aten::abs(self=%x)", "");
  EXPECT_EQ(later.path, &record_);
  EXPECT_FALSE(later.first);
  EXPECT_EQ(record_.taken.size(), 1U);
}

TEST_F(PathsTest, RowsThatChangeNothingAreNoOtherPath) {
  take("aten::neg(self=%x)", "rows %any true at \"p.py\":1\n");
  const TakenPath none = take("aten::neg(self=%x)", "rows %any false at \"p.py\":1\n");
  EXPECT_EQ(none.path, &record_);
  EXPECT_TRUE(record_.guards[0].either);
  // What did the same once may do something else another time.
  const TakenPath other = take("aten::abs(self=%x)", "rows %any false at \"p.py\":1\n");
  EXPECT_EQ(other.path, &record_);
}

TEST_F(PathsTest, RowsThatChangeTheProgramAre) {
  take("aten::neg(self=%x)", "rows %any true at \"p.py\":1\n");
  const TakenPath none = take("aten::abs(self=%x)", "rows %any false at \"p.py\":1\n");
  EXPECT_TRUE(none.first);
  EXPECT_FALSE(record_.guards[0].either);
  EXPECT_FALSE(none.path->guards[0].either);
}

TEST_F(PathsTest, AnotherQuestionIsAnotherPath) {
  take("aten::neg(self=%x)", "guard %any true at \"p.py\":2\n");
  EXPECT_TRUE(take("aten::neg(self=%x)", "guard %any true at \"p.py\":3\n").first);
  EXPECT_TRUE(take("aten::neg(self=%x)", "guard %any true at \"p.py\":2\nguard %any true at \"p.py\":3\n").first);
}

TEST_F(PathsTest, RoundsOfALoopAreCountedEach) {
  loop(0b0000001);
  loop(0b0000011);
  const LocationId line = record_.guards[0].location();
  const ConditionCount first = record_.guard_counts.at({line, 0});
  const ConditionCount second = record_.guard_counts.at({line, 1});
  EXPECT_EQ(std::pair(first.yes, first.no), std::pair(std::size_t{2}, std::size_t{0}));
  EXPECT_EQ(std::pair(second.yes, second.no), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(record_.guard_counts.size(), 7U);
}

TEST_F(PathsTest, TooManyPathsTheRarestGoes) {
  for (unsigned answers = 0; answers <= kMaxPaths; ++answers) EXPECT_TRUE(loop(answers).first);
  EXPECT_EQ(record_.others.size(), kMaxPaths);
  loop(1);                             // all but this one were taken once
  EXPECT_EQ(loop(100).path, nullptr);  // as often as the rarest: it stays
  const TakenPath kept = loop(100);    // more often
  ASSERT_NE(kept.path, nullptr);
  EXPECT_TRUE(kept.first);
  EXPECT_EQ(record_.others.size(), kMaxPaths);
  EXPECT_NE(find_path(record_, 1), nullptr);
  EXPECT_EQ(find_path(record_, 2), nullptr);
  EXPECT_EQ(record_.others.back().get(), kept.path);
  // The one that went is remembered by how often it was taken.
  EXPECT_EQ(record_.not_kept.size(), 1U);
  EXPECT_EQ(record_.not_kept.begin()->second, 1U);
}

}  // namespace
}  // namespace leapp::capture
