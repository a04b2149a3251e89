// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/slot_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "capture/branches/path_testing.h"
#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"

namespace leapp::capture {
namespace {

// if x.sum() > 0: self.h = x * 3 else: self.h = -x;   y = x + self.h of `delay` passes ago
std::string history_call(int pass, bool taken, const std::string& facts) {
  const std::string update =
      taken ? "aten::mul.Tensor(self=%x, other=3.0)  @ \"p.py\":3" : "aten::neg(self=%x)  @ \"p.py\":5";
  return testing::deciding_call(pass, taken, facts + "\nkeep %3", "  %3: float32[2] = " + update + "\n");
}

std::string former(int pass) { return fmt::format("constant %h named \"h\" from n %3 of pass {}", pass); }

class SlotValuesTest : public testing::PathTest {
 protected:
  StateSlots find(const std::string& text) {
    record(text);
    return find_slots(paths_, evaluator_);
  }
};

TEST_F(SlotValuesTest, ARowOfWhatEitherPathMade) {
  const StateSlots found =
      find(history_call(0, true, "") + history_call(1, false, "") + history_call(2, true, former(0)) +
           history_call(3, false, former(1)) + history_call(4, true, former(2)) + history_call(5, false, former(3)));
  ASSERT_FALSE(found.odd) << found.odd->reason;
  ASSERT_EQ(found.slots.size(), 1U);
  EXPECT_EQ(found.slots[0].leak.source.delay, 2U);
  ASSERT_NE(found.slots[0].next[0], nullptr);
  ASSERT_NE(found.slots[0].next[1], nullptr);
  EXPECT_EQ(bare(found.slots[0].next[0])->op->info->name(), "aten::mul");
  EXPECT_EQ(bare(found.slots[0].next[1])->op->info->name(), "aten::neg");
}

TEST_F(SlotValuesTest, WhatOnePathMakesAndTheOtherLeavesAloneIsNoRow) {
  const StateSlots found = find(history_call(0, true, "") + history_call(1, false, former(0)) +
                                history_call(2, true, former(0)) + history_call(3, false, former(2)));
  ASSERT_FALSE(found.odd) << found.odd->reason;
  ASSERT_EQ(found.slots.size(), 1U);
  EXPECT_EQ(found.slots[0].leak.source.delay, 1U);
  EXPECT_NE(found.slots[0].next[0], nullptr);
  EXPECT_EQ(found.slots[0].next[1], nullptr) << "what it makes goes elsewhere";
}

// if self.h is None: self.h = torch.zeros(2);   if c: self.h = x * 3;   y = x + self.h
std::string lazy_call(int pass, bool taken, const std::string& from) {
  const std::string read =
      pass == 0 ? "  %h: float32[2] = aten::zeros(size=[2])  @ \"p.py\":1\n" : "  %h = constant float32[2] [0, 0]\n";
  const std::string facts = pass == 0 ? "keep %h" : "constant %h named \"h\" from n " + from;
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
{}  %1: float32[] = aten::sum(self=%x, dtype=None)  @ "p.py":2
  %2: bool[] = aten::gt.Scalar(self=%1, other=0)  @ "p.py":2
{}  %4: float32[2] = aten::add.Tensor(self=%x, other=%h, alpha=1)  @ "p.py":4
  return (y=%4)
}}
{}
guard %2 {} at "p.py":2
{}
)",
                     pass, read, taken ? "  %3: float32[2] = aten::mul.Tensor(self=%x, other=3.0)  @ \"p.py\":3\n" : "",
                     facts, taken, taken ? "keep %3" : "");
}

TEST_F(SlotValuesTest, WhatTheFirstCallMadeOnceIsTheBeginning) {
  const StateSlots found = find(lazy_call(0, false, "") + lazy_call(1, false, "%h of pass 0") +
                                lazy_call(2, true, "%h of pass 0") + lazy_call(3, false, "%3 of pass 2") +
                                lazy_call(4, true, "%3 of pass 2") + lazy_call(5, true, "%3 of pass 4"));
  ASSERT_FALSE(found.odd) << found.odd->reason;
  ASSERT_EQ(found.slots.size(), 1U);
  EXPECT_EQ(found.slots[0].next[0], nullptr) << "the first call's path leaves it alone";
  ASSERT_NE(found.slots[0].next[1], nullptr);
  ASSERT_TRUE(found.slots[0].leak.read.contains(0));
  EXPECT_EQ(found.slots[0].leak.read.at(0)->text(), "[what aten::zeros gives]");
}

}  // namespace
}  // namespace leapp::capture
