// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/state_beginnings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

using testing::leaving_call;
using testing::says;
using testing::setting_call;

class StateBeginningsTest : public testing::PathTest {};

TEST_F(StateBeginningsTest, WhatAWayReadsBeforeItIsSetMatters) {
  record(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0") + leaving_call(2, "from n %3 of pass 0") +
         setting_call(3, "from n %3 of pass 0") + setting_call(4, "from n %3 of pass 3"));
  const std::vector<StateSlot> slots = find_slots(paths_, evaluator_).slots;
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_FALSE(is_set_first(slots[0], slots, paths_));
}

// if self.t == 0: self.h[:] = x; else: y = self.h: only state decides, and at first it says that self.h is set.
TEST_F(StateBeginningsTest, AWayThatStateDecidesAgainstIsNotTheFirst) {
  const auto call = [](int pass, bool first) {
    const std::string head = fmt::format(R"(
call n in pass {0}
graph n(%x: float32[2]) {{
  %t = constant int64[] [{0}]
  %2: bool[] = aten::eq.Scalar(self=%t, other=0)  @ "p.py":2
  %3: int64[] = aten::add.Tensor(self=%t, other=1, alpha=1)  @ "p.py":5
)",
                                         pass);
    const std::string memory =
        pass == 0 ? "memory @h = float32[2] [5, 6]\nmemory @t = int64[] [0]\n" : "memory @h\nmemory @t\n";
    const std::string body = first ? "  %4: float32[2] = aten::neg(self=%x)\n  return (y=%4)\n}\n"
                                   : "  %h = constant float32[2] [1, 2]\n  %4: float32[2] = aten::add.Tensor(self=%x, "
                                     "other=%h, alpha=1)\n  return (y=%4)\n}\n";
    const std::string kept =
        first ? "wrote @h float32[2]\nholds @h float32[2] = %x\n" : "constant %h in @h float32[2]\n";
    return head + body + memory + kept + "wrote @t int64[]\nholds @t int64[] = %3\n" +
           "constant %t named \"t\" copied overwritten in @t int64[]\n" +
           fmt::format("guard %2 {} at \"p.py\":2\n", first);
  };
  record(call(0, true) + call(1, false) + call(2, false));
  const StateSlots found = find_slots(paths_, evaluator_);
  ASSERT_FALSE(found.odd) << found.odd->reason;
  const auto slot = std::find_if(found.slots.begin(), found.slots.end(),
                                 [](const StateSlot& one) { return one.leak.type.dtype == at::kFloat; });
  ASSERT_NE(slot, found.slots.end());
  EXPECT_TRUE(is_set_first(*slot, found.slots, paths_));
}

TEST_F(StateBeginningsTest, TheTextSaysWhatTheModelBeginsWith) {
  Leak leak;
  EXPECT_EQ(
      unknown_beginning_text("n", leak),
      "node 'n' keeps a tensor, and no call shows what was in it at the beginning: the model begins with nothing. "
      "Run a first pass that reads it before it is set");
  leak.name = "h";
  leak.read[2] = nullptr;
  EXPECT_TRUE(says(unknown_beginning_text("n", leak), "keeps 'h', and no call"));
  EXPECT_TRUE(says(unknown_beginning_text("n", leak), "the model begins with what call 2 found there"));
}

}  // namespace
}  // namespace leapp::capture
