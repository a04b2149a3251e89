// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Every way of keeping state of docs/state.md, as a trace.
#include "capture/state_analysis.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::says;

TEST(WaysOfKeepingState, DeclaredStateIsFeedbackUnderItsName) {
  Analysed result(R"(
call policy in pass 0
graph policy(%obs: float32[2], %h: float32[2]) {
  %0: float32[2] = aten::add.Tensor(self=%obs, other=%h, alpha=1)
  return (action=%0, h=%0)
}
state h
)");
  EXPECT_EQ(result.ports(), "policy(obs, h = policy/h of the pass before) -> (action, h)\n");
  EXPECT_FALSE(says(result.log(), "[warning]")) << result.log();
}

// self.h = h, where h is a buffer of a module that was called.
TEST(WaysOfKeepingState, ABufferReassigned) {
  Analysed result(R"(
call policy in pass 0
graph policy(%obs: float32[2]) {
  %h = constant float32[2] [0, 0]
  %0: float32[2] = aten::add.Tensor(self=%obs, other=%h, alpha=1)
  return (action=%0)
}
memory @h = float32[2] [0, 0]
constant %h at "policy.py":7 in @h float32[2]
buffer "model.h" in @h float32[2] becomes %0
)");
  EXPECT_EQ(result.ports(), "policy(obs, model_h = policy/action of the pass before) -> (action)\n");
  EXPECT_TRUE(says(result.log(), "policy.py:7: node 'policy' keeps 'model_h' from one call to the next"))
      << result.log();
  EXPECT_EQ(result.samples_of_input("policy", "model_h"), "[0, 0]");
}

constexpr const char* kInPlace = R"(
call policy in pass 0
graph policy(%obs: float32[2]) {
  %h = constant float32[2] [0, 0]
  %0: float32[2] = aten::add.Tensor(self=%h, other=%obs, alpha=1)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=2.0)
  return (action=%1)
}
memory @h = float32[2] [0, 0]
wrote @h float32[2]
holds @h float32[2] = %0
constant %h named "h" at "policy.py":7 copied overwritten in @h float32[2]
)";

// self.h.copy_(...), self.t += 1
TEST(WaysOfKeepingState, ATensorWrittenInPlace) {
  Analysed result(kInPlace);
  EXPECT_EQ(result.ports(), "policy(obs, h = policy/h of the pass before) -> (action, h)\n");
  EXPECT_EQ(result.graph("policy"), R"(graph policy(%obs: float32[2], %h: float32[2]) {
  %0: float32[2] = aten::add.Tensor(self=%h, other=%obs, alpha=1)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=2.0)
  return (action=%1, h=%0)
}
)");
}

// self.h[0] = x; what is read are the elements that stay.
TEST(WaysOfKeepingState, ATensorWrittenInPart) {
  Analysed result(R"(
call policy in pass 0
graph policy(%x: float32[1]) {
  %h = constant float32[2] [3, 4]
  %0: float32[2] = aten::as_strided_scatter(self=%h, src=%x, size=[1], stride=[1], storage_offset=0)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=2.0)
  return (action=%1)
}
memory @h = float32[2] [3, 4]
wrote @h float32[1]
holds @h float32[2] = %0
constant %h named "h" copied overwritten in @h float32[2]
)");
  EXPECT_EQ(result.ports(), "policy(x, h = policy/h of the pass before) -> (action, h)\n");
  EXPECT_EQ(result.samples_of_input("policy", "h"), "[3, 4]");
}

// A normaliser's running mean: nothing but its own next value depends on it. Declared, it is state all the same.
TEST(WaysOfKeepingState, StatisticsThatOnlyAccumulate) {
  const std::string call = R"(
call policy in pass 0
graph policy(%x: float32[2]) {
  %mean = constant float32[2] [0, 0]
  %0: float32[2] = aten::mul.Tensor(self=%mean, other=0.9)
  %1: float32[2] = aten::add.Tensor(self=%0, other=%x, alpha=0.1)
  return (y=%x)
}
memory @mean = float32[2] [0, 0]
wrote @mean float32[2]
holds @mean float32[2] = %1
constant %mean copied overwritten in @mean float32[2]
)";
  Analysed declared(call + "buffer \"mean\" declared in @mean float32[2]\n");
  EXPECT_EQ(declared.ports(), "policy(x, mean = policy/mean of the pass before) -> (y, mean)\n");
  EXPECT_FALSE(says(declared.log(), "[warning]")) << declared.log();
  Analysed watched(call + "buffer \"mean\" in @mean float32[2]\n");
  EXPECT_EQ(watched.ports(), "policy(x) -> (y)\n");
}

// self.ema = 0.9 * self.ema + x
std::string ema_call(int pass, const std::string& content, const std::string& facts) {
  return fmt::format(R"(
call policy in pass {}
graph policy(%x: float32[2]) {{
  %ema = constant float32[2] [{}]
  %0: float32[2] = aten::mul.Tensor(self=%ema, other=0.9)  @ "policy.py":5
  %1: float32[2] = aten::add.Tensor(self=%0, other=%x, alpha=1)  @ "policy.py":5
  %2: float32[2] = aten::mul.Tensor(self=%1, other=2.0)  @ "policy.py":6
  return (action=%2)
}}
constant %ema named "ema" at "policy.py":5 {}
keep %1
)",
                     pass, content, facts);
}

TEST(WaysOfKeepingState, AnAttributeReassignedTakesTwoPasses) {
  const std::string first = ema_call(0, "0, 0", "alone");
  Analysed once(first);
  EXPECT_EQ(once.ports(), "policy(x) -> (action)\n");
  Analysed twice(first + ema_call(1, "1, 2", "from policy %1 of pass 0"));
  EXPECT_EQ(twice.ports(), "policy(x, ema = policy/ema of the pass before) -> (action, ema)\n");
  EXPECT_EQ(twice.samples_of_input("policy", "ema"), "[0, 0] [1, 2]");
  EXPECT_EQ(twice.divergences("policy"), "");
  EXPECT_TRUE(says(twice.log(), "annotate.state_tensors('policy', {'ema': ema})")) << twice.log();
}

TEST(WaysOfKeepingState, TheLastActionIsAnEdgeFromTheOutput) {
  Analysed result(R"(
call policy in pass 0
graph policy(%x: float32[2]) {
  %last = constant float32[2] [0, 0]
  %0: float32[2] = aten::add.Tensor(self=%last, other=%x, alpha=1)
  return (action=%0)
}
keep %0
call policy in pass 1
graph policy(%x: float32[2]) {
  %last = constant float32[2] [1, 2]
  %0: float32[2] = aten::add.Tensor(self=%last, other=%x, alpha=1)
  return (action=%0)
}
constant %last named "last" from policy/action of pass 0
keep %0
)");
  EXPECT_EQ(result.ports(), "policy(x, last = policy/action of the pass before) -> (action)\n");
}

TEST(WaysOfKeepingState, AnotherNodesValueReadWithoutAnnouncingIt) {
  Analysed result(R"(
call pre in pass 0
graph pre(%x: float32[2]) {
  %0: float32[2] = aten::relu(self=%x)
  return (features=%0)
}
call policy in pass 0
graph policy(%obs: float32[2]) {
  %f = constant float32[2] [1, 0]
  %0: float32[2] = aten::add.Tensor(self=%obs, other=%f, alpha=1)
  return (action=%0)
}
constant %f named "features" at "policy.py":9 from pre/features of pass 0
)");
  EXPECT_EQ(result.ports(), "pre(x) -> (features)\npolicy(obs, features = pre/features) -> (action)\n");
  EXPECT_TRUE(says(result.log(), "policy.py:9: node 'policy' reads pre/features without announcing it"));
}

// self.t += 1; return sin(self.t)
TEST(WaysOfKeepingState, AnOutputThatDependsOnStateAlone) {
  Analysed result(R"(
call clock in pass 0
graph clock(%x: float32[1]) {
  %t = constant float32[1] [0]
  %0: float32[1] = aten::add.Tensor(self=%t, other=1, alpha=1)
  %1: float32[1] = aten::sin(self=%0)
  return (phase=%1)
}
memory @t = float32[1] [0]
wrote @t float32[1]
holds @t float32[1] = %0
constant %t named "t" copied overwritten in @t float32[1]
)");
  EXPECT_EQ(result.ports(), "clock(x, t = clock/t of the pass before) -> (phase, t)\n");
  EXPECT_TRUE(result.node("clock").refusals.empty());
}

// self.buffer[self.i] = x; self.i = (self.i + 1) % 3
TEST(WaysOfKeepingState, ACircularBufferWithATensorAsPointer) {
  Analysed result(R"(
call policy in pass 0
graph policy(%x: float32[1]) {
  %b = constant float32[3] [0, 0, 0]
  %i = constant int64[1] [0]
  %0: float32[3] = aten::index_put(self=%b, indices=[%i], values=%x, accumulate=False)
  %1: int64[1] = aten::add.Tensor(self=%i, other=1, alpha=1)
  %2: int64[1] = aten::remainder.Scalar(self=%1, other=3)
  %3: float32[] = aten::sum(self=%0, dtype=None)
  return (y=%3)
}
memory @b = float32[3] [0, 0, 0]
wrote @b float32[3]
holds @b float32[3] = %0
memory @i = int64[1] [0]
wrote @i int64[1]
holds @i int64[1] = %2
constant %b named "buffer" copied overwritten in @b float32[3]
constant %i named "i" copied overwritten in @i int64[1]
)");
  EXPECT_EQ(
      result.ports(),
      "policy(x, buffer = policy/buffer of the pass before, i = policy/i of the pass before) -> (y, buffer, i)\n");
}

// self.history = [self.history[1], x]: what stands in the list is two passes old when it is read last.
std::string history_call(int pass, const std::string& facts) {
  return fmt::format(R"(
call policy in pass {0}
graph policy(%x: float32[1]) {{
  %a = constant float32[1] [{0}]
  %b = constant float32[1] [{0}]
  %0: float32[1] = aten::mul.Tensor(self=%x, other=1.0)
  %1: float32[2] = aten::cat(tensors=[%a, %b], dim=0)
  %2: float32[3] = aten::cat(tensors=[%1, %0], dim=0)
  return (y=%2)
}}
keep %0
{1})",
                     pass, facts);
}

TEST(WaysOfKeepingState, AListOfNTensorsTakesNAndOnePasses) {
  Analysed result(history_call(0, "") + history_call(1, "constant %b from policy %0 of pass 0\n") +
                  history_call(2, "constant %a from policy %0 of pass 0\nconstant %b from policy %0 of pass 1\n"));
  EXPECT_EQ(
      result.ports(),
      "policy(x, state_0 = policy/state_0 of the pass before, state_1_1 = policy/state_0 of the pass before, state_1 "
      "= policy/state_1_1 of the pass before) -> (y, state_0, state_1_1)\n");
}

// self.out[:] = x; return self.out * 2: nothing that was there before is read.
TEST(WaysOfKeepingState, ABufferThatIsOverwrittenFirstIsNone) {
  Analysed result(R"(
call policy in pass 0
graph policy(%x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2.0)
  return (y=%0)
}
memory @out = float32[2] [7, 7]
wrote @out float32[2]
holds @out float32[2] = %x
buffer "out" declared in @out float32[2]
)");
  EXPECT_EQ(result.ports(), "policy(x) -> (y)\n");
  EXPECT_FALSE(says(result.log(), "[warning]")) << result.log();
}

TEST(WaysOfKeepingState, APythonNumberIsADifference) {
  const auto call = [](int pass, const char* number) {
    return fmt::format(R"(
call policy in pass {}
graph policy(%x: float32[2]) {{
  %0: float32[2] = aten::mul.Tensor(self=%x, other={})  @ "policy.py":12
  return (y=%0)
}}
)",
                       pass, number);
  };
  Analysed result(call(0, "0.5") + call(1, "0.25"));
  EXPECT_EQ(result.ports(), "policy(x) -> (y)\n");
  EXPECT_TRUE(says(result.divergences("policy"),
                   "call 1 differs from call 0: aten::mul.Tensor at policy.py:12: 'other' is 0.5 in call 0 and 0.25"))
      << result.divergences("policy");
}

TEST(StateAnalysis, LeaksAsErrorsRefuseTheNode) {
  Analysed result(kInPlace, Leaks::kError);
  EXPECT_EQ(result.ports(), "policy(obs) -> (action)\n");
  ASSERT_EQ(result.node("policy").refusals.size(), 1U);
  EXPECT_TRUE(says(result.node("policy").refusals[0], "policy.py:7: node 'policy' keeps 'h'"));
}

TEST(StateAnalysis, LeaksAsConstantsAreWarnedAbout) {
  Analysed result(kInPlace, Leaks::kConstant);
  EXPECT_EQ(result.ports(), "policy(obs) -> (action)\n");
  EXPECT_TRUE(says(result.log(), "It is exported as a constant")) << result.log();
}

TEST(StateAnalysis, ANumberReadFromStateIsWarnedAbout) {
  EXPECT_FALSE(says(Analysed(kInPlace).log(), "a number is read"));
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
