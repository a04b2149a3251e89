// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/memory.h"

#include <gtest/gtest.h>

#include "capture/hook/op_info.h"
#include "capture/trace/literal_trace.h"

namespace leapp::capture {
namespace {

graph::Constant four_floats() {
  auto data = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  return {{DType::kFloat32, {4}}, std::shared_ptr<const void>(data, data->data()), false};
}

Geometry floats(std::int64_t count, std::int64_t offset = 0, std::int64_t stride = 1) {
  Geometry place;
  place.sizes = {count};
  place.strides = {stride};
  place.byte_offset = offset * 4;
  return place;
}

class MemoryTest : public ::testing::Test {
 protected:
  ValuePtr value(const Geometry& place, ActivationId owner = 1) {
    ValuePtr made = make_value(TracedKind::kInput, {place.dtype, place.sizes}, {.port = "x"});
    made->owner = owner;
    return made;
  }
  bool changed(const Geometry& read, const std::vector<Geometry>& covered = {}) {
    LiteralCell cell;
    cell.place = read;
    cell.covered = covered;
    return memory_->use().changed(cell, memory_->bytes());
  }

  TraceBuilder builder_{[](auto&&...) {}};
  std::shared_ptr<LiteralMemory> memory_ = std::make_shared<LiteralMemory>("m", four_floats());
};

TEST_F(MemoryTest, AValueThatFitsIsReadAsItIs) {
  EXPECT_EQ(memory_->read(floats(4), builder_, 0), nullptr);
  const ValuePtr whole = value(floats(4));
  memory_->write(floats(4), whole, builder_);
  EXPECT_EQ(memory_->read(floats(4), builder_, 0), whole);
}

TEST_F(MemoryTest, APartIsReadFromAllOfIt) {
  const ValuePtr part = value(floats(2, 1));
  memory_->write(floats(2, 1), part, builder_);
  const ValuePtr read = memory_->read(floats(3), builder_, 0);
  ASSERT_EQ(read->kind, TracedKind::kResult);
  EXPECT_EQ(read->op->info->name(), "aten::as_strided");
  const ValuePtr root = read->op->arguments[0].tensor;
  EXPECT_EQ(root->op->info->name(), "aten::as_strided_scatter");
  EXPECT_EQ(root->op->arguments[1].tensor, part);
  const ConstantCell& bytes = *root->op->arguments[0].tensor->cell;
  EXPECT_EQ(bytes.copy()->text(), "[1, 2, 3, 4]");
  ASSERT_EQ(bytes.covered.size(), 1U);
  EXPECT_EQ(bytes.covered[0], floats(2, 1));
}

// self.window = roll(...); self.window[-1] = x, and nobody reads it before the call ends.
TEST_F(MemoryTest, WhatWasMadeAndWrittenToInPartIsOneValueInTheEnd) {
  memory_->write(floats(4), value(floats(4), 1), builder_);
  memory_->write(floats(1, 3), value(floats(1), 1), builder_);
  memory_->settle(2, builder_);  // another call's
  memory_->settle(1, builder_);
  std::vector<ValuePtr> held;
  memory_->replace([&](const ValuePtr& value) { return held.emplace_back(value); });
  const ValuePtr whole = memory_->read(floats(4), builder_, 0);
  EXPECT_EQ(whole, held.back());
  EXPECT_EQ(whole->op->info->name(), "aten::as_strided_scatter");
}

TEST_F(MemoryTest, WhatTouchesNothingIsNotKnown) {
  memory_->write(floats(1), value(floats(1)), builder_);
  EXPECT_EQ(memory_->read(floats(1, 3), builder_, 0), nullptr);
}

TEST_F(MemoryTest, TwoNodesEachReadTheirOwnInput) {
  const ValuePtr first = value(floats(4), 1);
  const ValuePtr second = value(floats(4), 2);
  memory_->overlay(floats(4), first);
  memory_->overlay(floats(4), second);
  EXPECT_EQ(memory_->read(floats(4), builder_, 1), first);
  EXPECT_EQ(memory_->read(floats(4), builder_, 2), second);
}

TEST_F(MemoryTest, ChangedIsWhatWasReadAndWritten) {
  EXPECT_FALSE(changed(floats(4)));
  memory_->write(floats(2, 0, 2), value(floats(2)), builder_);  // elements 0 and 2
  EXPECT_TRUE(changed(floats(1)));
  EXPECT_FALSE(changed(floats(1, 1)));
  EXPECT_FALSE(changed(floats(2, 1, 2)));
  EXPECT_TRUE(changed(floats(4)));
  EXPECT_FALSE(changed(floats(1), {floats(1)}));  // newer values lay over it when it was read
  memory_->forget_before();
  EXPECT_FALSE(changed(floats(4)));
}

TEST_F(MemoryTest, WhatTheNodeTookAsInputIsNoState) {
  memory_->overlay(floats(4), value(floats(4)));
  memory_->write(floats(4), value(floats(4)), builder_);
  EXPECT_FALSE(changed(floats(4)));
}

TEST_F(MemoryTest, WritingAConstantOverAnInputIsNoted) {
  memory_->overlay(floats(4), value(floats(4)));
  const ValuePtr zero = builder_.full({4}, 0, at::kFloat);
  memory_->write(floats(4), zero, builder_);
  EXPECT_TRUE(zero->over_input);
}

TEST_F(MemoryTest, EveryWriteIsANewEpoch) {
  const std::uint64_t before = memory_->epoch();
  memory_->write(floats(4), value(floats(4)), builder_);
  EXPECT_GT(memory_->epoch(), before);
  memory_->forget();
  EXPECT_TRUE(memory_->plain());
}

TEST_F(MemoryTest, ReplaceTakesLayersAway) {
  memory_->write(floats(4), value(floats(4)), builder_);
  memory_->replace([](const ValuePtr&) { return ValuePtr(); });
  EXPECT_TRUE(memory_->plain());
}

TEST_F(MemoryTest, APieceOfAPublishedOutputIsComputedFromIt) {
  memory_->write(floats(4), make_value(TracedKind::kPublished, {at::kFloat, {4}}, {.node = "n", .port = "p"}),
                 builder_);
  EXPECT_EQ(memory_->read(floats(2), builder_, 0)->kind, TracedKind::kGlue);
  memory_->write(floats(4), make_value(TracedKind::kFormer, {at::kFloat, {4}}, {.node = "n"}), builder_);
  EXPECT_TRUE(memory_->read(floats(2), builder_, 0)->origin->part);
}

TEST_F(MemoryTest, TheWholeIsTheShapeThatWasSeen) {
  EXPECT_EQ(memory_->whole(at::kFloat), floats(4));
  EXPECT_EQ(memory_->whole(at::kDouble).sizes[0], 2);
  const auto square = std::make_shared<LiteralMemory>("square", [] {
    graph::Constant constant = four_floats();
    constant.type.shape = {2, 2};
    return constant;
  }());
  EXPECT_EQ(square->whole(at::kFloat).sizes.size(), 2U);
}

}  // namespace
}  // namespace leapp::capture
