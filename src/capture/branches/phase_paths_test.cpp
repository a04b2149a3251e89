// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_paths.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::says;

// if not self.queue: self.queue.extend(x * 2)
std::string filling_call(int pass) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[3,2]) {{
  %0: float32[3,2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":1
  %1: float32[2], %2: float32[2], %3: float32[2] = aten::unbind.int(self=%0, dim=0)  @ "p.py":1
  return (y=%1)
}}
keep %2
keep %3
)",
                     pass);
}

// y = self.queue.popleft()
std::string taking_call(int pass, int entry, const std::string& values) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[3,2]) {{
  %q = constant float32[2] {}
  return (y=%q)
}}
constant %q at "p.py":2 from n %{} of pass {}
)",
                     pass, values, entry + 1, pass - entry);
}

std::string queue_calls(int calls) {
  std::string text;
  for (int pass = 0; pass < calls; ++pass)
    text += pass % 3 == 0 ? filling_call(pass) : taking_call(pass, pass % 3, fmt::format("[{}, 1]", pass));
  return text;
}

constexpr const char* kQueue =
    R"(graph n(%x: float32[3,2], %state_0: float32[2], %state_1: float32[2], %phase: int64[]) {
  %0: bool[] = aten::eq.Scalar(self=%phase, other=0)
  %1: bool[] = aten::eq.Scalar(self=%phase, other=2)  @ "p.py":2
  %2: float32[2] = aten::where.self(condition=%1, self=%state_1, other=%state_0)  @ "p.py":2
  %3: float32[3,2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":1
  %4: float32[2], %5: float32[2], %6: float32[2] = aten::unbind.int(self=%3, dim=0)  @ "p.py":1
  %7: float32[2] = aten::where.self(condition=%0, self=%4, other=%2)
  %8: float32[2] = aten::where.self(condition=%0, self=%5, other=%state_0)
  %9: float32[2] = aten::where.self(condition=%0, self=%6, other=%state_1)
  %10: int64[] = aten::add.Scalar(self=%phase, other=1, alpha=1)
  %11: int64[] = aten::remainder.Scalar(self=%10, other=3)
  return (y=%7, state_0=%8, state_1=%9, phase=%11)
}
)";

TEST(PhasePaths, AQueueThatTheProgramKeeps) {
  Analysed result(queue_calls(9));
  EXPECT_EQ(result.graph("n"), kQueue);
  EXPECT_TRUE(says(result.ports(), "phase = n/phase of the pass before")) << result.ports();
  EXPECT_EQ(result.divergences("n"), "");
  EXPECT_TRUE(says(result.log(), "Its 9 calls did the same every 3 calls. This is exported as state 'phase'"));
  EXPECT_FALSE(says(result.log(), "at the beginning")) << result.log();
}

// self.row[self.at] = x * 2; y = stack(self.row): one place of the program reads another entry in each phase.
std::string ring_call(int pass) {
  const int at = pass % 2;
  const std::string other = pass == 0 ? "" : fmt::format(" from n %0 of pass {}", pass - 1);
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %c = constant float32[2] [{}, 0]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2.0)  @ "p.py":1
  %1: float32[2,2] = aten::stack(tensors=[{}, {}], dim=0)  @ "p.py":2
  return (y=%1)
}}
constant %c at "p.py":2{}
keep %0
)",
                     pass, pass, at == 0 ? "%0" : "%c", at == 0 ? "%c" : "%0", other);
}

TEST(PhasePaths, EntriesThatAreReplacedInTurn) {
  std::string text;
  for (int pass = 0; pass < 8; ++pass) text += ring_call(pass);
  Analysed result(text);
  EXPECT_TRUE(says(result.ports(), "phase")) << result.ports() << result.log();
  EXPECT_EQ(result.divergences("n"), "");
}

TEST(PhasePaths, WhatIsNotConfirmedStaysADifference) {
  Analysed result(queue_calls(6));
  EXPECT_TRUE(says(result.divergences("n"), "an earlier call computed it")) << result.divergences("n");
  EXPECT_FALSE(says(result.ports(), "phase"));
}

TEST(PhasePaths, AnErrorWhereStateIsToBeDeclared) {
  Analysed result(queue_calls(9), Leaks::kError);
  ASSERT_EQ(result.node("n").refusals.size(), 1);
  EXPECT_TRUE(says(result.node("n").refusals[0], "p.py:1: node 'n' goes other ways from call to call"));
}

}  // namespace
}  // namespace leapp::capture
