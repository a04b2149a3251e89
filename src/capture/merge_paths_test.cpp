// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/merge_paths.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

bool is_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// y = x * 2; if (x.sum() > 0): y = y + 1 else: y = y - 1
std::string branch_call(int pass, bool taken) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":1
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
  %3: float32[2] = aten::{}.Tensor(self=%0, other=1.0, alpha=1)  @ "p.py":{}
  return (y=%3)
}}
guard %2 {} at "p.py":2
)",
                     pass, taken ? "add" : "sub", taken ? 3 : 4, taken);
}

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

TEST(MergePaths, BothSidesAndTheCommonBeginningOnce) {
  Analysed result(branch_call(0, true) + branch_call(1, false) + branch_call(2, true));
  EXPECT_EQ(result.graph("n"), kBoth);
  EXPECT_EQ(result.divergences("n"), "");
  EXPECT_FALSE(is_in(result.log(), "[warning]")) << result.log();
}

TEST(MergePaths, OneSideIsExportedAsItIsWithCounts) {
  Analysed result(branch_call(0, true) + branch_call(1, true));
  EXPECT_FALSE(is_in(result.graph("n"), "where"));
  EXPECT_TRUE(is_in(result.log(),
                    "p.py:2: node 'n' branches on a value here: aten::is_nonzero was true in all 2 cases, "
                    "never false. It is exported that way; run a pass in which it is false"))
      << result.log();
}

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

TEST(MergePaths, AQuestionOfWhatOnlyOneWayComputesNeedsBothAnswersThere) {
  const std::string seen = search_call(0, true, true) + search_call(1, true, false) + search_call(2, false, false);
  Analysed some(seen);
  EXPECT_TRUE(is_in(some.log(),
                    "p.py:2: node 'n' branches on a value here that was always false on the way that call "
                    "2 took (false at p.py:1), while on other ways it was both"))
      << some.log();
  Analysed all(seen + search_call(3, false, true));
  EXPECT_FALSE(is_in(all.log(), "[warning]")) << all.log();
}

TEST(MergePaths, WhatBothSidesComputeAlikeIsNotChosen) {
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
  EXPECT_FALSE(is_in(result.graph("n"), "where")) << result.graph("n");
}

// if x.sum() > 0: self.h[:] = x      (in place, in one path only); y = x + self.h
std::string resample_call(int pass, bool taken, const std::string& before) {
  const std::string head = fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
)",
                                       pass);
  if (taken) {
    return head + R"(  %3: float32[2] = aten::add.Tensor(self=%x, other=%x, alpha=1)  @ "p.py":4
  return (y=%3)
}
memory @h = float32[2] [5, 6]
wrote @h float32[2]
holds @h float32[2] = %x
guard %2 true at "p.py":2
)";
  }
  return head + fmt::format(R"(  %h = constant float32[2] [{}]
  %3: float32[2] = aten::add.Tensor(self=%x, other=%h, alpha=1)  @ "p.py":4
  return (y=%3)
}}
memory @h = float32[2] [5, 6]
guard %2 false at "p.py":2
constant %h at "p.py":4 in @h float32[2]
)",
                            before);
}

std::string without_first_content(std::string text) {
  const std::string content = "memory @h = float32[2] [5, 6]";
  const std::size_t first = text.find(content);
  for (std::size_t at = text.find(content, first + 1); at != std::string::npos; at = text.find(content, at + 1))
    text.replace(at, content.size(), "memory @h");
  return text;
}

TEST(MergePaths, MemoryThatOnePathWritesAndAnotherReadsIsState) {
  Analysed result(without_first_content(resample_call(0, false, "5, 6") + resample_call(1, true, "") +
                                        resample_call(2, false, "1, 2")));
  // Nobody reads in a call what the call itself has written: both orders of paths give the same.
  EXPECT_EQ(result.ports(), "n(x, state_0 = n/state_0 of the pass before) -> (y, state_0)\n") << result.log();
  EXPECT_TRUE(is_in(result.graph("n"), "aten::where.self(condition=%1, self=%x, other=%state_0)")) << result.graph("n");
}

// if c: self.h = x * 3;   y = x + self.h
std::string kept_call(int pass, bool taken, const std::string& facts) {
  const std::string head = fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %h = constant float32[2] [{}, 0]
  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
)",
                                       pass, pass);
  const std::string update = taken ? "  %3: float32[2] = aten::mul.Tensor(self=%x, other=3.0)  @ \"p.py\":3\n" : "";
  return head + update +
         fmt::format(R"(  %4: float32[2] = aten::add.Tensor(self=%x, other=%h, alpha=1)  @ "p.py":4
  return (y=%4)
}}
constant %h named "h" at "p.py":4 {}
guard %2 {} at "p.py":2
{}
)",
                     facts, taken, taken ? "keep %3" : "");
}

TEST(MergePaths, AnAttributeThatOnePathSetsAndAnotherLeavesAlone) {
  Analysed result(kept_call(0, true, "alone") + kept_call(1, false, "from n %3 of pass 0") +
                  kept_call(2, false, "from n %3 of pass 0") + kept_call(3, true, "from n %3 of pass 0") +
                  kept_call(4, true, "from n %3 of pass 3"));
  EXPECT_EQ(result.ports(), "n(x, h = n/h of the pass before) -> (y, h)\n") << result.log();
  EXPECT_TRUE(is_in(result.graph("n"), "aten::where.self(condition=%1, self=%2, other=%h)")) << result.graph("n");
  EXPECT_EQ(result.divergences("n"), "");
}

// What decided depends on a constant that nobody explains: as if there were no guard.
TEST(MergePaths, AGuardThatNeitherInputsNorStateDecide) {
  const auto call = [](int pass, bool taken) {
    return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %c = constant float32[] [{}]
  %2: bool[] = aten::gt.Scalar(self=%c, other=0)  @ "p.py":2
  %3: float32[2] = aten::{}.Tensor(self=%x, other=1.0, alpha=1)  @ "p.py":3
  return (y=%3)
}}
guard %2 {} at "p.py":2
)",
                       pass, taken ? 1 : -1, taken ? "add" : "sub", taken);
  };
  Analysed result(call(0, true) + call(1, false));
  EXPECT_FALSE(is_in(result.graph("n"), "where"));
  EXPECT_TRUE(is_in(result.divergences("n"), "call 1 differs from call 0: aten::add.Tensor"))
      << result.divergences("n");
  EXPECT_TRUE(is_in(result.log(), "depends neither on the node's inputs nor on state")) << result.log();
}

TEST(MergePaths, AnotherWayWithoutAGuardIsADifference) {
  std::string later = branch_call(1, false);
  later.replace(later.find("guard %2 false at \"p.py\":2"), 26, "guard %2 false at \"p.py\":9");
  Analysed result(branch_call(0, true) + later);
  EXPECT_FALSE(is_in(result.graph("n"), "where"));
  EXPECT_TRUE(is_in(result.divergences("n"), "call 1 differs from call 0")) << result.divergences("n");
}

}  // namespace
}  // namespace leapp::capture
