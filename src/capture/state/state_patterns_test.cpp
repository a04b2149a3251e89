// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Every way of keeping state of docs/concepts/state.md as a trace, in the order of its table.
#include <gtest/gtest.h>

#include <string>

#include "capture/session/sources.h"
#include "capture/state/state_analysis.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;
using testing::kKeptInPlace;
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

// self.h.copy_(...), self.t += 1
TEST(WaysOfKeepingState, ATensorWrittenInPlace) {
  Analysed result(kKeptInPlace);
  EXPECT_EQ(result.ports(), "policy(obs, h = policy/h of the pass before) -> (action, h)\n");
  EXPECT_EQ(result.graph("policy"), R"(graph policy(%obs: float32[2], %h: float32[2]) {
  %0: float32[2] = aten::add.Tensor(self=%h, other=%obs, alpha=1)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=2.0)
  return (action=%1, h=%0)
}
)");
}

// The same, when it is a buffer of a module that was called: self.h.copy_(h)
TEST(WaysOfKeepingState, ABufferWrittenInPlace) {
  Analysed result(std::string(kKeptInPlace) + "buffer \"model.h\" in @h float32[2]\n");
  EXPECT_EQ(result.ports(), "policy(obs, model_h = policy/model_h of the pass before) -> (action, model_h)\n");
  EXPECT_TRUE(says(result.log(), "node 'policy' keeps 'model_h' from one call to the next")) << result.log();
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

// self.h = None at first: h = zeros(2) if self.h is None else self.h;  self.h = h + x
TEST(WaysOfKeepingState, AnAttributeThatIsNoneAtFirst) {
  const auto rest = R"(  %1: float32[2] = aten::add.Tensor(self=%h, other=%x, alpha=1)  @ "policy.py":6
  %2: float32[2] = aten::mul.Tensor(self=%1, other=2.0)  @ "policy.py":7
  return (action=%2)
}
keep %1
)";
  Analysed result(std::string(R"(
call policy in pass 0
graph policy(%x: float32[2]) {
  %h: float32[2] = aten::zeros(size=[2])  @ "policy.py":5
)") + rest + R"(
call policy in pass 1
graph policy(%x: float32[2]) {
  %h = constant float32[2] [1, 2]
)" + rest + "constant %h named \"h\" at \"policy.py\":6 from policy %1 of pass 0\n");
  EXPECT_EQ(result.ports(), "policy(x, h = policy/h of the pass before) -> (action, h)\n");
  EXPECT_FALSE(says(result.graph("policy"), "aten::zeros")) << result.graph("policy");
  EXPECT_EQ(result.divergences("policy"), "");
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

// input_tensors("pre", {"last": action of the pass before}). Which output an input comes from is decided when it is
// announced (sources.h), by what its tensor held.
TEST(WaysOfKeepingState, AnotherNodesOutputOfThePassBefore) {
  auto trace = parse_trace(R"(
call policy in pass 0
graph policy(%obs: float32[2]) {
  %0: float32[2] = aten::relu(self=%obs)
  return (action=%0)
}
call pre in pass 1
graph pre(%x: float32[2]) {
  %last = constant float32[2] [1, 0]
  %0: float32[2] = aten::add.Tensor(self=%x, other=%last, alpha=1)
  return (features=%0)
}
constant %last from policy/action of pass 0
)");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const ValuePtr held = trace.value().calls[1].values[1].second;
  const std::uint64_t hash = held->cell->provenance->origin->content_hash;
  testing::TestLog log;
  CaptureResult recording;
  recording.log = log.shared();
  const auto in_pass = [&](std::uint64_t pass) {
    return SourceFinder(pass, recording).find("pre", "last", held, [&] { return hash; });
  };
  ASSERT_TRUE(in_pass(1));
  EXPECT_EQ(in_pass(1)->node + "/" + in_pass(1)->port, "policy/action");
  EXPECT_TRUE(in_pass(1)->feedback);
  EXPECT_FALSE(in_pass(0)->feedback);  // the same pass: data_flow
  EXPECT_FALSE(in_pass(2));            // an edge is at most one pass late
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

// if self.place == 0: self.actions.copy_(x);   y = self.actions[self.place];   self.place = (self.place + 1) % 2
std::string place_call(int pass) {
  const bool fills = pass % 2 == 0;
  return fmt::format(
      R"(
call policy in pass {0}
graph policy(%x: float32[2]) {{
  %place = constant int64[1] [{1}]
{2}  %2: bool[1] = aten::eq.Scalar(self=%place, other=0)  @ "policy.py":4
  %3: bool[] = aten::all(self=%2)  @ "policy.py":4
  %4: float32[1] = aten::index_select(self={3}, dim=0, index=%place)  @ "policy.py":6
  %5: int64[1] = aten::add.Tensor(self=%place, other=1, alpha=1)  @ "policy.py":7
  %6: int64[1] = aten::remainder.Scalar(self=%5, other=2)  @ "policy.py":7
  return (y=%4)
}}
{4}memory @place{5}
wrote @place int64[1]
holds @place int64[1] = %6
constant %place named "place" at "policy.py":4 copied overwritten in @place int64[1]
guard %3 {6} at "policy.py":4
)",
      pass, pass % 2, fills ? "" : "  %actions = constant float32[2] [1, 2]\n", fills ? "%x" : "%actions",
      fills ? fmt::format("memory @actions{}\nwrote @actions float32[2]\nholds @actions float32[2] = %x\n",
                          pass == 0 ? " = float32[2] [0, 0]" : "")
            : "memory @actions\nconstant %actions named \"actions\" at \"policy.py\":6 in @actions "
              "float32[2]\n",
      pass == 0 ? " = int64[1] [0]" : "", fills);
}

TEST(WaysOfKeepingState, AQueueWithATensorAsPlace) {
  Analysed result(place_call(0) + place_call(1) + place_call(2));
  const std::string ports = result.ports();
  EXPECT_TRUE(says(ports, "place = policy/place of the pass before")) << ports << result.log();
  EXPECT_TRUE(says(ports, "state_0 = policy/state_0 of the pass before")) << ports << result.log();  // self.actions
  EXPECT_TRUE(says(result.graph("policy"), "aten::where.self")) << result.graph("policy");
  EXPECT_EQ(result.divergences("policy"), "");
  EXPECT_TRUE(result.node("policy").refusals.empty());
}

// if self.step % 2 == 0: y = x * 2 else: y = x - 1;   self.step += 1. A deque that is filled in every third call is in
// phase_paths_test.cpp.
TEST(WaysOfKeepingState, ACounterOfTheProgramThatDecides) {
  std::string text;
  for (int pass = 0; pass < 8; ++pass) {
    text +=
        fmt::format(R"(
call policy in pass {}
graph policy(%x: float32[2]) {{
  %0: float32[2] = aten::{}  @ "policy.py":{}
  return (y=%0)
}}
)",
                    pass, pass % 2 == 0 ? "mul.Tensor(self=%x, other=2.0)" : "sub.Tensor(self=%x, other=1.0, alpha=1)",
                    5 + pass % 2);
  }
  Analysed result(text);
  EXPECT_EQ(result.ports(), "policy(x, phase = policy/phase of the pass before) -> (y, phase)\n");
  EXPECT_TRUE(says(result.graph("policy"), "aten::remainder.Scalar(self=%4, other=2)")) << result.graph("policy");
  EXPECT_TRUE(says(result.log(), "This is exported as state 'phase'")) << result.log();
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

// self.table = sin(arange(2)) when it is needed first; weights that are rescaled once are in prepared_once_test.cpp.
TEST(WaysOfKeepingState, ATableMadeWhenItIsNeededIsAConstant) {
  Analysed result(R"(
call policy in pass 0
graph policy(%x: float32[2]) {
  %0: float32[2] = aten::ones(size=[2])  @ "policy.py":3
  %1: float32[2] = aten::sin(self=%0)  @ "policy.py":3
  %2: float32[2] = aten::mul.Tensor(self=%x, other=%1)  @ "policy.py":4
  return (y=%2)
}
keep %1
call policy in pass 1
graph policy(%x: float32[2]) {
  %table = constant float32[2] [0.8, 0.8]
  %2: float32[2] = aten::mul.Tensor(self=%x, other=%table)  @ "policy.py":4
  return (y=%2)
}
constant %table named "table" at "policy.py":4 from policy %1 of pass 0
)");
  EXPECT_EQ(result.ports(), "policy(x) -> (y)\n");
  EXPECT_EQ(result.divergences("policy"), "");
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

}  // namespace
}  // namespace leapp::capture
