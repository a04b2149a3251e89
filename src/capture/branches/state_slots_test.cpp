// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/state_slots.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "capture/branches/path_reads.h"
#include "capture/branches/path_testing.h"
#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"

namespace leapp::capture {
namespace {

using testing::filling_memory_call;
using testing::leaving_call;
using testing::memory_facts;
using testing::memory_head;
using testing::reading_memory_call;
using testing::setting_call;

class StateSlotsTest : public testing::PathTest {
 protected:
  StateSlots find() { return find_slots(paths_, evaluator_); }
};

TEST_F(StateSlotsTest, WhatOnePathSetsAnotherLeavesAlone) {
  record(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0") + leaving_call(2, "from n %3 of pass 0") +
         setting_call(3, "from n %3 of pass 0") + setting_call(4, "from n %3 of pass 3"));
  ASSERT_EQ(paths_.size(), 2U);
  const StateSlots found = find();
  ASSERT_FALSE(found.odd) << found.odd->reason;
  ASSERT_EQ(found.slots.size(), 1U);
  const StateSlot& slot = found.slots[0];
  EXPECT_TRUE(slot.own);
  EXPECT_EQ(slot.leak.name, "h");
  EXPECT_FALSE(slot.unknown_beginning);
  ASSERT_NE(slot.next[0], nullptr);
  EXPECT_EQ(slot.next[0]->op->info->name(), "aten::mul");
  EXPECT_EQ(slot.next[1], nullptr);
  // Both paths read it in one place each.
  std::set<std::string> parts;
  for (const auto& [use, part] : operands_of(found.slots)) parts.insert(part);
  EXPECT_EQ(slot.leak.uses.size(), 2U);
  EXPECT_EQ(parts.size(), 1U);
  EXPECT_FALSE(find_unexplained(paths_, found.slots).has_value());
}

TEST_F(StateSlotsTest, AReadThatNoSlotStandsFor) {
  record(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0"));
  const auto odd = find_unexplained(paths_, {});
  ASSERT_TRUE(odd.has_value());
  EXPECT_EQ(odd->path, 1U);
  EXPECT_EQ(odd->reason, "it reads something that was kept at p.py:4");
}

TEST_F(StateSlotsTest, NobodyKnowsWhatTheLastPathLeaves) {
  record(setting_call(0, "alone") + setting_call(1, "from n %3 of pass 0") + leaving_call(2, "from n %3 of pass 1"));
  const StateSlots found = find();
  ASSERT_TRUE(found.odd.has_value());
  EXPECT_TRUE(found.slots.empty());
  EXPECT_EQ(found.odd->path, 1U);
  EXPECT_EQ(found.odd->reason, "no call after it shows what it leaves in 'h'; run another pass after it");
}

TEST_F(StateSlotsTest, APathThatLeavesItAloneOnlySometimes) {
  record(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0") + leaving_call(2, "from n %3 of pass 0") +
         setting_call(3, "from n %4 of pass 2") + leaving_call(4, "from n %3 of pass 3"));
  const StateSlots found = find();
  ASSERT_TRUE(found.odd.has_value());
  EXPECT_EQ(found.odd->path, 1U);
}

TEST_F(StateSlotsTest, MemoryThatOnePathWritesAndAnotherReads) {
  for (const bool writer_first : {false, true}) {
    record(writer_first ? filling_memory_call(0) + reading_memory_call(1, "1, 2")
                        : reading_memory_call(0, "5, 6") + filling_memory_call(1) + reading_memory_call(2, "1, 2"));
    const StateSlots found = find();
    ASSERT_FALSE(found.odd) << found.odd->reason;
    ASSERT_EQ(found.slots.size(), 1U);
    const StateSlot& slot = found.slots[0];
    EXPECT_TRUE(slot.leak.in_place);
    const std::size_t writer = writer_first ? 0 : 1;
    ASSERT_NE(slot.next[writer], nullptr);
    EXPECT_EQ(bare(slot.next[writer])->kind, TracedKind::kInput);
    EXPECT_EQ(slot.next[1 - writer], nullptr);
    EXPECT_EQ(slot.leak.uses.size(), 1U);
  }
}

// One way overwrites a 2 x 1 tensor before anybody has read it, which shows flat; later calls read it in its shape.
TEST_F(StateSlotsTest, MemoryThatOnePathShowsFlatIsTheSameMemory) {
  const auto call = [](int pass, bool taken) {
    if (taken) return filling_memory_call(pass);
    return memory_head(pass) + R"(  %h = constant float32[2,1] [1, 2]
  %3: float32[2,1] = aten::mul.Tensor(self=%h, other=2.0)
  %4: float32[2] = aten::reshape(self=%3, shape=[2])
  %5: float32[2] = aten::add.Tensor(self=%x, other=%4, alpha=1)
  return (y=%5)
}
)" + memory_facts(pass) +
           "wrote @h float32[2,1]\nholds @h float32[2,1] = %3\nguard %2 false at \"p.py\":2\n" +
           "constant %h in @h float32[2,1]\n";
  };
  record(call(0, true) + call(1, false) + call(2, true) + call(3, false));
  const StateSlots found = find();
  ASSERT_FALSE(found.odd) << found.odd->reason;
  ASSERT_EQ(found.slots.size(), 1U);
  EXPECT_NE(found.slots[0].next[0], nullptr);
  EXPECT_NE(found.slots[0].next[1], nullptr);
}

TEST_F(StateSlotsTest, MemoryThatIsOnlyReadIsNoState) {
  record(reading_memory_call(0, "5, 6") + reading_memory_call(1, "5, 6"));
  EXPECT_TRUE(find().slots.empty());
}

TEST_F(StateSlotsTest, AllThatMattersInTheOrderOfTheProgram) {
  record(setting_call(0, "alone") + leaving_call(1, "from n %3 of pass 0") + leaving_call(2, "from n %3 of pass 0"));
  const std::vector<ValuePtr> roots = roots_of(*paths_[0]);
  ASSERT_GE(roots.size(), 3U);
  EXPECT_EQ(roots[0]->op->info->name(), "aten::add");
  EXPECT_EQ(roots[1], paths_[0]->guards[0].value);
  EXPECT_EQ(roots.back()->op->info->name(), "aten::mul");
}

}  // namespace
}  // namespace leapp::capture
