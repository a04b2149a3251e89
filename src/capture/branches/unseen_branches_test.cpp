// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/unseen_branches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::says;

// y = x + 1 if x.sum() > 0 else x - 1;  return y * 2 if y.sum() > 3 else y
std::string search_call(int pass, bool first, bool second) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %0: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":1
  %1: bool[] = aten::gt.Scalar(self=%0, other=0)  @ "p.py":1
  %2: float32[2] = aten::{}.Tensor(self=%x, other=1.0, alpha=1)  @ "p.py":1
  %3: float32[] = aten::sum(self=%2, dtype=None)  @ "p.py":2
  %4: bool[] = aten::gt.Scalar(self=%3, other=3)  @ "p.py":2
  %5: float32[2] = aten::mul.Tensor(self=%2, other={})  @ "p.py":2
  return (y=%5)
}}
guard %1 {} at "p.py":1
guard %4 {} at "p.py":2
)",
                     pass, first ? "add" : "sub", second ? "2.0" : "1.0", first, second);
}

TEST(UnseenWays, AQuestionOfWhatOnlyOneWayComputesNeedsBothAnswersThere) {
  const std::string seen = search_call(0, true, true) + search_call(1, true, false) + search_call(2, false, false);
  Analysed some(seen);
  EXPECT_TRUE(says(some.log(),
                   "p.py:2: node 'n' branches on a value here that was always false on the way that call "
                   "2 took (false at p.py:1), while on other ways it was both"))
      << some.log();
  Analysed all(seen + search_call(3, false, true));
  EXPECT_FALSE(says(all.log(), "[warning]")) << all.log();
}

// What is asked at lines 2 and 3 changes only together on the way on which line 1 says no.
TEST(UnseenWays, BranchesThatChangeOnlyTogetherProveNothing) {
  const auto call = [](int pass, const char* way, const char* operation) {
    std::string facts;
    for (int i = 0; i < 3; ++i) facts += fmt::format("guard %c{} {} at \"p.py\":{}\n", i, way[i] == 'T', i + 1);
    return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %s: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":1
  %c0: bool[] = aten::gt.Scalar(self=%s, other=0)  @ "p.py":1
  %c1: bool[] = aten::gt.Scalar(self=%s, other=1)  @ "p.py":2
  %c2: bool[] = aten::gt.Scalar(self=%s, other=2)  @ "p.py":3
  %y: float32[2] = aten::{}(self=%x)  @ "p.py":4
  return (y=%y)
}}
{})",
                       pass, operation, facts);
  };
  const std::string together =
      call(0, "TTT", "neg") + call(1, "FTF", "exp") + call(2, "FFT", "exp") + call(3, "TFT", "sin");
  const std::string text =
      "p.py:2: node 'n' branches on a value here that changed only together with other branches, so "
      "that nobody can tell which of them output 'y' depends on";
  EXPECT_TRUE(says(Analysed(together).log(), text)) << Analysed(together).log();
  EXPECT_FALSE(says(Analysed(together + call(4, "FFF", "exp")).log(), text));
}

TEST(UnseenWays, TheAnswersOnTheWay) {
  testing::RecordedCalls calls(search_call(0, true, false));
  const std::vector<BranchCondition>& guards = calls.node("n").guards;
  EXPECT_EQ(way_text(guards, 0), "");
  EXPECT_EQ(way_text(guards, 1), " (true at p.py:1)");
  EXPECT_EQ(way_text(guards, 2), " (true at p.py:1, false at p.py:2)");
}

}  // namespace
}  // namespace leapp::capture
