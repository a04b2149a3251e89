// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/unread_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/trace/record.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

std::string one_call(const std::string& facts) {
  return R"(
call policy in pass 0
graph policy(%x: float32[2]) {
  %ema = constant float32[2] [0, 0]
  %0: float32[2] = aten::mul.Tensor(self=%ema, other=0.9)  @ "policy.py":5
  %1: float32[2] = aten::add.Tensor(self=%0, other=%x, alpha=1)  @ "policy.py":5
  %2: float32[3] = aten::zeros(size=[3])  @ "policy.py":6
  return (action=%1)
}
)" + facts;
}

bool warns(const std::string& facts) {
  return Analysed(one_call(facts)).log().find("leaves a tensor in") != std::string::npos;
}

TEST(UnreadState, WhatAnAttributeStillHoldsMayBeState) {
  const std::string log =
      Analysed(one_call("constant %ema at \"policy.py\":5 alone\nkeep %0 in attribute \"ema\"\n")).log();
  EXPECT_NE(
      log.find("policy.py:5: node 'policy' leaves a tensor in 'ema', and no call came after the one recorded that "
               "could have read it"),
      std::string::npos)
      << log;
  EXPECT_NE(log.find("what is read at policy.py:5 is exported as a constant. Run at least 2 passes"),
            std::string::npos);
}

TEST(UnreadState, AVariableMattersOnlyWhereAConstantWasReplaced) {
  EXPECT_FALSE(warns("keep %0 in variable \"v\"\n"));                       // somebody still has what was read
  EXPECT_TRUE(warns("constant %ema alone\nkeep %0 in variable \"v\"\n"));   // nobody: it was replaced
  EXPECT_FALSE(warns("constant %ema alone\nkeep %2 in variable \"v\"\n"));  // but not by something of another type
  EXPECT_TRUE(warns("keep %2 in attribute \"a\"\n"));                       // an attribute is for later
}

TEST(UnreadState, AnOutputIsAPortAlready) { EXPECT_FALSE(warns("keep %1 in attribute \"action\"\n")); }

TEST(UnreadState, AfterTwoCallsAnAttributeAloneIsNoNews) {
  std::string second = one_call("");
  second.replace(second.find("pass 0"), 6, "pass 1");
  const std::string log = Analysed(one_call("keep %0 in attribute \"a\"\n") + second).log();
  EXPECT_EQ(log.find("leaves a tensor in"), std::string::npos) << log;
}

TEST(ChangedValues, AreToldOfNodesThatWereCalledOnce) {
  testing::TestLog log;
  std::vector<std::unique_ptr<NodeRecord>> nodes;
  for (const std::size_t calls : {1U, 2U}) {
    auto& node = *nodes.emplace_back(std::make_unique<NodeRecord>());
    node.name = fmt::format("n{}", calls);
    node.calls = calls;
    node.options.export_with = "jit";
  }
  report_changed_values(nodes, {{"n1", "p.py:3", "Policy.steps (was 0, is 1)"}, {"n2", "p.py:4", "Policy.k"}},
                        log.log());
  EXPECT_NE(log.text().find("p.py:3: node 'n1' was called once, and Policy.steps (was 0, is 1) changed"),
            std::string::npos);
  EXPECT_EQ(log.text().find("Policy.k"), std::string::npos);
  EXPECT_NE(log.text().find("captured once: 'n1': state"), std::string::npos) << log.text();
}

}  // namespace
}  // namespace leapp::capture
