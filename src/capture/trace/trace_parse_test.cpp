// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "capture/trace/trace_text.h"
#include "capture/trace/trace_text_testing.h"

namespace leapp::capture {
namespace {

using testing::kGuards;
using testing::kWholeTrace;

TEST(TraceParse, WhatIsRead) {
  const auto trace = parse_trace(kWholeTrace);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const TracedCall& pre = trace.value().calls[0];
  const TracedCall& policy = trace.value().calls[1];
  EXPECT_TRUE(pre.values[1].second->cell->parameter);
  EXPECT_EQ(pre.kept[0].holder.kind, Holder::Kind::kAttribute);
  EXPECT_EQ(policy.trace.pass, 1U);
  EXPECT_NE(policy.trace.activation, pre.trace.activation);
  EXPECT_EQ(policy.values[2].second->cell->provenance->kind, TracedKind::kFormer);
  EXPECT_EQ(policy.values[3].second->cell->provenance->kind, TracedKind::kPublished);
  EXPECT_EQ(policy.values[4].second->cell->provenance->kind, TracedKind::kGlue);
  ASSERT_EQ(policy.memories.size(), 2U);
  EXPECT_EQ(policy.memories[0].second.layers[0].geometry.byte_offset, 4);
  EXPECT_TRUE(policy.inputs[1].state && policy.outputs[1].state);
  EXPECT_EQ(trace.value().calls[2].memories[0].first, policy.memories[0].first);
}

// Outputs that depend on nothing stand behind an operator, as in a recording.
TEST(TraceParse, ConstantOutputsAreSetApart) {
  const auto trace = parse_trace("call n in pass 0\ngraph n() {\n  %c = constant float32[1] [1]\n  return (y=%c)\n}\n");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(trace.value().calls[0].trace.outputs[0]->kind, TracedKind::kResult);
}

std::string error_of_trace(const std::string& facts, const std::string& op = "aten::relu(self=%x)") {
  const auto trace = parse_trace(
      "call n in pass 0\ngraph n(%x: float32[2]) {\n  %c = constant float32[2] [1, 2]\n  %0: float32[2] = " + op +
      "\n  return (y=%0)\n}\n" + facts);
  return trace.ok() ? "" : trace.status().message();
}

TEST(TraceParse, ErrorsNameTheLine) {
  EXPECT_EQ(error_of_trace(""), "");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"keep %z", "line 7: the call has no value %z"},
      {"constant %0 given", "line 7: expected a constant"},
      {"constant %c from other %0 of pass 0", "line 7: no call of 'other' in pass 0 has a value %0"},
      {"constant %c from other of pass 0", "line 7: expected %value, or a port as node/port"},
      {"constant %c in @m float32[2]", "line 7: no memory is called @m"},
      {"memory @m = float32[2] [1]", "line 7: the content that begins here"},
      {"memory @m = nothing", "line 7: expected a type and its elements"},
      {"memory @m = float32[2] [1, 2]\nmemory @m", "line 8: @m stands in this call already"},
      {"memory @m = float32[2] [1, 2]\nwrote @m float32[3]", "line 8: it does not lie within the memory"},
      {"memory @m = float32[2] [1, 2]\nwrote @m float32[1] strides [1, 2]", "line 8: it does not lie within"},
      {"memory @m = float32[2] [1, 2]\nwrote @m thing[1]", "line 8: expected a type"},
      {"state h", "line 7: no input is called 'h'"},
      {"keep %0 in cupboard \"x\"", "line 7: expected 'variable'"},
      {"whatever", "line 7: expected a fact"},
      {"call n in pass x", "line 7: expected a number, found \"x\""},
      {"call n in pass 1", "expected a graph"},
      {"call n in pass 1\ngraph n() {", "line 8: the graph has no end"},
  };
  for (const auto& [facts, message] : cases) {
    EXPECT_NE(error_of_trace(facts).find(message), std::string::npos) << facts << ": " << error_of_trace(facts);
  }
}

TEST(TraceParse, GuardsAndRows) {
  const auto trace = parse_trace(std::string("# a comment\n") + kGuards);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const std::vector<BranchCondition>& guards = trace.value().calls[0].trace.guards;
  ASSERT_EQ(guards.size(), 2U);
  EXPECT_TRUE(guards[0].taken && !guards[0].rows);
  EXPECT_TRUE(guards[1].rows && !guards[1].taken);
  EXPECT_EQ(location_text(guards[0].location()), "p.py:3");
  EXPECT_NE(error_of_trace("guard %0 true at \"p.py\":3"), "");  // no bool without dimensions
}

// Whatever bytes come: an error or a trace.
TEST(TraceParse, CutAnywhereItEndsInAnErrorOrATrace) {
  const std::string text = kWholeTrace;
  std::size_t whole = 0;
  for (std::size_t length = 0; length < text.size(); length += 3)
    whole += parse_trace(text.substr(0, length)).ok() ? 1 : 0;
  EXPECT_LT(whole, text.size() / 3);
}

}  // namespace
}  // namespace leapp::capture
