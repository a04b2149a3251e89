// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/result_binder.h"

#include "capture/recorder/op_testing.h"

namespace leapp::capture {
namespace {

using testing::OpTest;

TEST_F(OpTest, AnArgumentThatIsReturnedHoldsWhatItHeld) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  const ValuePtr input = bind_input(x, n);
  const PendingOp op = read("aten::neg", "", {x});
  ResultBinder(state_).bind(op, x, make_value(TracedKind::kInput, input->type, {.port = "other"}));
  EXPECT_EQ(state_.table.find(x), input);
}

TEST_F(OpTest, ASparseResultIsAnErrorOnlyInANode) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2, 2});
  const ValuePtr input = bind_input(x, n);
  const PendingOp op = read("aten::to_sparse", "", {x, c10::IValue(), c10::IValue(), c10::IValue()});
  const at::Tensor sparse = x.to_sparse();
  ResultBinder binder(state_);
  binder.bind(op, sparse, make_value(TracedKind::kFormer, input->type, {.node = "before"}));
  EXPECT_TRUE(state_.errors.take().ok());
  binder.bind(op, sparse, input);
  EXPECT_NE(state_.errors.take().message().find("makes a sparse tensor in node 'n': only dense tensors"),
            std::string::npos);
}

TEST_F(OpTest, AResultThatIsNotThereKeepsItsPlace) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  bind_input(x, n);
  const PendingOp op = read("aten::neg", "", {x});
  const auto trace = state_.builder.make(op.info, {op.arguments[0]});
  const at::Tensor third = at::ones({3});
  const std::vector<c10::IValue> outputs{at::Tensor(), c10::IValue(c10::List<at::Tensor>({at::ones({1}), third}))};
  ResultBinder(state_).bind_all(op, trace, 1, outputs);
  EXPECT_EQ(trace->results.size(), 4U);
  const ValuePtr value = state_.table.find(third);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->index, 3U);
}

}  // namespace
}  // namespace leapp::capture
