// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

using testing::says;

TEST(PhaseState, TheTextSaysHowTheCallsRepeat) {
  NodeRecord node;
  node.name = "n";
  node.calls = 9;
  EXPECT_EQ(phase_text(node, {.warm_up = 0, .period = 3}),
            "node 'n' goes other ways from call to call, and no value decides it: the program counts by itself. Its 9 "
            "calls did the same every 3 calls");
  EXPECT_TRUE(says(phase_text(node, {.warm_up = 1, .period = 1}), "did after the first one the same each time"));
  EXPECT_TRUE(says(phase_text(node, {.warm_up = 2, .period = 3}), "did after the first 2 the same every 3 calls"));
}

// y = x * 2 and y = x * 3 in turn.
TEST(PhaseState, ThePhaseIsStateThatBeginsAtZeroAndIsKnownInEverySample) {
  std::string text;
  for (int pass = 0; pass < 8; ++pass) {
    text += fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %0: float32[2] = aten::{}(self=%x)  @ "p.py":{}
  return (y=%0)
}}
)",
                        pass, pass % 2 == 0 ? "neg" : "exp", 3 + pass % 2);
  }
  testing::RecordedCalls calls(text);
  NodeRecord& node = calls.node("n");
  const auto phases = PhasePaths::find(node);
  ASSERT_TRUE(phases);
  LiteralEvaluator evaluator;
  TraceBuilder builder([](auto&&...) {}, TraceBuilder::kProgram * 4);
  add_phase(node, *phases, builder, evaluator);
  ASSERT_EQ(node.leaks.size(), 1U);
  const Leak& leak = node.leaks[0];
  EXPECT_EQ(leak.name, "phase");
  EXPECT_TRUE(leak.declared);
  EXPECT_EQ(leak.type, (ValueType{at::kLong, {}}));
  EXPECT_EQ(leak.read.size(), node.samples.size());
  EXPECT_EQ(leak.read.at(0)->hash(), leak.next.at(1)->hash());  // after two calls it is 0 again
  EXPECT_NE(leak.read.at(0)->hash(), leak.read.at(1)->hash());
}

}  // namespace
}  // namespace leapp::capture
