// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/op_reader.h"

#include "capture/recorder/op_testing.h"

namespace leapp::capture {
namespace {

using testing::OpTest;

TEST_F(OpTest, ReadsWhatTensorsHoldAndTakesOthersForConstants) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  const at::Tensor weight = at::ones({2});
  const ValuePtr value = bind_input(x, n);
  const PendingOp op = read("aten::add", "Tensor", {x, weight, 1});
  EXPECT_TRUE(op.in_node);
  EXPECT_EQ(op.owner, n);
  EXPECT_EQ(op.arguments[0].tensor, value);
  EXPECT_EQ(op.arguments[1].tensor->kind, TracedKind::kConstant);
  EXPECT_EQ(op.arguments[2].attribute.toInt(), 1);
  EXPECT_EQ(op.input_impls.size(), 2U);
}

TEST_F(OpTest, ANumberInATensorsPlaceIsANumber) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  bind_input(x, n);
  at::Tensor number = at::scalar_tensor(2.5, at::kDouble);
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  const PendingOp op = read("aten::mul", "Tensor", {x, number});
  EXPECT_EQ(op.arguments[1].tensor, nullptr);
  EXPECT_EQ(op.arguments[1].attribute.toDouble(), 2.5);
}

TEST_F(OpTest, MemoryOfTwoNodesIsReadForTheOneThatAnArgumentIsOf) {
  const ActivationId a = state_.calls.open("a");
  const ActivationId b = state_.calls.open("b");
  const at::Tensor shared = at::ones({4});
  const at::Tensor of_a = shared.view({4});
  const at::Tensor of_b = shared.view({4});
  bind_input(of_a, a);
  bind_input(of_b, b);
  const at::Tensor own = at::ones({4});
  bind_input(own, b);
  const PendingOp op = read("aten::add", "Tensor", {own, shared.view({4}), 1});
  EXPECT_EQ(op.owner, b);
  EXPECT_EQ(op.arguments[1].tensor->owner, b);
}

TEST_F(OpTest, WhatIsOnlyWrittenIsNotRead) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  const at::Tensor out = at::ones({2});
  bind_input(x, n);
  const PendingOp op = read("aten::add", "out", {x, x, 1, out});
  EXPECT_EQ(op.arguments[3].tensor, nullptr);
  ASSERT_EQ(op.written.size(), 1U);
  EXPECT_EQ(op.written[0].argument, 3U);
  EXPECT_TRUE(op.written[0].tensor.is_same(out));
}

TEST_F(OpTest, BatchNormWritesItsStatisticsOnlyInTraining) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2, 3});
  bind_input(x, n);
  const at::Tensor mean = at::zeros({3});
  const at::Tensor variance = at::ones({3});
  const auto read_norm = [&](bool training) {
    return read("aten::batch_norm", "", {x, c10::IValue(), c10::IValue(), mean, variance, training, 0.1, 1e-5, false});
  };
  EXPECT_TRUE(read_norm(false).written.empty());
  const PendingOp op = read_norm(true);
  ASSERT_EQ(op.written.size(), 2U);
  EXPECT_TRUE(op.written[0].tensor.is_same(mean));
  EXPECT_TRUE(op.written[1].tensor.is_same(variance));
}

TEST_F(OpTest, BetweenNodesOnlyWhatIsPublishedMatters) {
  const at::Tensor y = at::ones({2});
  const at::Tensor other = at::ones({2});
  const std::vector<c10::IValue> unknown{other, other, 1};
  EXPECT_FALSE(touches_known("aten::add", "Tensor", unknown));
  const ValuePtr value = publish(y);
  EXPECT_FALSE(touches_known("aten::add", "Tensor", unknown));
  const std::vector<c10::IValue> known{other, y, 1};
  EXPECT_TRUE(touches_known("aten::add", "Tensor", known));
  const PendingOp op = read("aten::add", "Tensor", known);
  EXPECT_FALSE(op.in_node);
  EXPECT_EQ(op.published, value);
  EXPECT_EQ(op.identity, nullptr);
  // Of copy_ the second argument is what goes on.
  EXPECT_EQ(read("aten::copy_", "", {other, y, false}).identity, value);
  // Writing to a part of what is published is writing to it.
  const std::vector<c10::IValue> part{y.slice(0, 1, 2)};
  EXPECT_TRUE(touches_known("aten::zero_", "", part));
}

}  // namespace
}  // namespace leapp::capture
