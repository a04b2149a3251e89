// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace leapp::capture {
namespace {

constexpr const char* kTrace = R"(call pre in pass 0
graph pre(%x: float32[2]) {
  %w = parameter float32[2] [1, 2]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%w)  @ "pre.py":2
  %1: float32[1], %2: int64[1] = aten::topk(self=%0, k=1, dim=-1, largest=True, sorted=True)  @ "pre.py":3
  %3: float32[3] = aten::cat(tensors=[%0, %1], dim=0)
  return (features=%3)
}
constant %w named "gain" at "pre.py":2
keep %0 in attribute "last"
keep %1 in variable "top"
call policy in pass 1
graph policy(%obs: float32[2], %h: float32[2]) {
  %a = constant float32[2] [1, 2]
  %b = constant float32[3] [0, 0, 0]
  %c = constant float32[3] [4, 5, 6]
  %0: float32[2] = aten::add.Tensor(self=%a, other=%obs, alpha=1)
  return (action=%0, h=%a)
}
memory @m = float32[2,2] [1, 2, 3, 4]
wrote @m float32[2]
took @m float32[2] offset 2
holds @m float32[2] strides [2] offset 1 = %0
memory @gone = int64[1] [7] gone
constant %a given overwritten copied from pre %0 of pass 0 in @m float32[2] offset 2 covered float32[1]
constant %b alone from pre/features of pass 0
constant %c random from pre/features of pass 0 through "aten::neg"
buffer "layer.m" declared in @m float32[2,2]
buffer "layer.n" in @gone int64[1] gone
buffer "layer.o" in @m float32[2] becomes %0
number %0 at "policy.py":8
state h
call policy in pass 2
graph policy(%obs: float32[2], %h: float32[2]) {
  %a = constant float32[2] [1, 2]
  %0: float32[2] = aten::add.Tensor(self=%a, other=%obs, alpha=1)
  return (action=%0, h=%a)
}
memory @m
constant %a from policy %0 of pass 1 part
state h
)";

TEST(TraceText, ReadsAndPrintsTheSame) {
  const auto trace = parse_trace(kTrace);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(print_trace(trace.value()), kTrace);
}

TEST(TraceText, WhatIsRead) {
  const auto trace = parse_trace(kTrace);
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
TEST(TraceText, ConstantOutputsAreSetApart) {
  const auto trace = parse_trace("call n in pass 0\ngraph n() {\n  %c = constant float32[1] [1]\n  return (y=%c)\n}\n");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  EXPECT_EQ(trace.value().calls[0].trace.outputs[0]->kind, TracedKind::kResult);
  EXPECT_NE(print_trace(trace.value()).find("return (y=%c)"), std::string::npos);
}

std::string error_of_trace(const std::string& facts, const std::string& op = "aten::relu(self=%x)") {
  const auto trace = parse_trace(
      "call n in pass 0\ngraph n(%x: float32[2]) {\n  %c = constant float32[2] [1, 2]\n  %0: float32[2] = " + op +
      "\n  return (y=%0)\n}\n" + facts);
  return trace.ok() ? "" : trace.status().message();
}

TEST(TraceText, ErrorsNameTheLine) {
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

TEST(TraceText, OperatorsAreTorchs) {
  EXPECT_NE(error_of_trace("", "aten::nothing()").find("aten::nothing: torch has no such operator"), std::string::npos);
  EXPECT_NE(error_of_trace("", "aten::mul.Tensor(self=%x)").find("the argument 'other' is missing"), std::string::npos);
  EXPECT_NE(error_of_trace("", "aten::relu(self=%x, up=1)").find("it has no argument 'up'"), std::string::npos);
  EXPECT_EQ(error_of_trace("", "aten::add.Tensor(self=%x, other=%c)"), "");  // alpha has a default
  EXPECT_NE(error_of_trace("", "aten::to.device(self=%x, device=device(\"moon\"), dtype=float32)"), "");
}

// Whatever bytes come: an error or a trace.
TEST(TraceText, CutAnywhereItEndsInAnErrorOrATrace) {
  const std::string text = kTrace;
  std::size_t whole = 0;
  for (std::size_t length = 0; length < text.size(); length += 3)
    whole += parse_trace(text.substr(0, length)).ok() ? 1 : 0;
  EXPECT_LT(whole, text.size() / 3);
}

}  // namespace
}  // namespace leapp::capture
