// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/op_results.h"

#include "capture/recorder/op_testing.h"
#include "capture/recorder/tensor_content.h"

namespace leapp::capture {
namespace {

using testing::OpTest;

TEST_F(OpTest, AnOperatorStandsInTheTraceAsItIs) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  const ValuePtr input = bind_input(x, n);
  const at::Tensor y = run("aten::neg", "", {x})[0].toTensor();
  EXPECT_EQ(name_of_op(y), "aten::neg");
  EXPECT_EQ(state_.table.find(y)->op->arguments[0].tensor, input);
}

TEST_F(OpTest, ACopyIsTheSameValueAndACastIsNot) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  const ValuePtr input = bind_input(x, n);
  EXPECT_EQ(state_.table.find(run("aten::clone", "", {x, c10::IValue()})[0].toTensor()), input);
  const at::Tensor wide =
      run("aten::_to_copy", "", {x, at::kDouble, c10::IValue(), c10::IValue(), c10::IValue(), false, c10::IValue()})[0]
          .toTensor();
  EXPECT_EQ(state_.table.find(wide)->type.dtype, at::kDouble);
}

TEST_F(OpTest, WhatIsDrawnFromNothingIsADrawThatHasItsNumbers) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor zero = at::zeros({2});
  const auto draw = [&] {
    return run("aten::rand_like", "",
               {zero, c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue()})[0]
        .toTensor();
  };
  const at::Tensor drawn = draw();
  const ValuePtr value = state_.table.find(drawn);
  ASSERT_NE(value, nullptr);
  ASSERT_EQ(value->kind, TracedKind::kResult);
  EXPECT_TRUE(value->op->random);
  EXPECT_EQ(value->op->draw.call, n);
  ASSERT_NE(value->drawn, nullptr);
  EXPECT_TRUE(at::equal(tensor_of(*value->drawn), drawn));
  EXPECT_NE(state_.table.find(draw())->op->draw.generator, value->op->draw.generator);
}

TEST_F(OpTest, WhatIsDrawnWhileTwoCallsAreOpenIsAConstantThatWasDrawn) {
  state_.calls.open("n");
  state_.calls.open("m");
  const at::Tensor zero = at::zeros({2});
  const at::Tensor drawn =
      run("aten::rand_like", "", {zero, c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue(), c10::IValue()})[0]
          .toTensor();
  const ValuePtr value = state_.table.find(drawn);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->kind, TracedKind::kDrawn);
  EXPECT_EQ(value->origin->node, "aten::rand_like");
}

class UnwrittenTest : public OpTest {
 protected:
  at::Tensor fresh() {
    const c10::IValue none;
    return run("aten::empty", "memory_format", {std::vector<std::int64_t>{2, 2}, none, none, none, none, none})[0]
        .toTensor();
  }
  ActivationId n_ = state_.calls.open("n");
};

TEST_F(UnwrittenTest, WhoWritesToAPartFindsZeros) {
  const at::Tensor out = fresh();
  run("aten::masked_fill_", "Scalar", {out, at::ones({2, 2}, at::kBool), 3.0});
  const ValuePtr filled = state_.table.find(out)->op->arguments[0].tensor;  // in the type of the memory
  EXPECT_EQ(filled->op->info->qualified_name(), "aten::masked_fill.Scalar");
  EXPECT_EQ(filled->op->arguments[0].tensor->op->info->qualified_name(), "aten::full");
}

TEST_F(UnwrittenTest, AViewOfItReadsNothing) {
  const at::Tensor out = fresh();
  const at::Tensor turned = run("aten::t", "", {out})[0].toTensor();
  EXPECT_TRUE(state_.table.is_unwritten(turned));
  EXPECT_TRUE(state_.table.is_unwritten(out));
}

TEST_F(UnwrittenTest, WhoReadsItTakesItForContent) {
  const at::Tensor out = fresh();
  run("aten::neg", "", {out});
  EXPECT_FALSE(state_.table.is_unwritten(out));
}

TEST_F(UnwrittenTest, WhatTorchTensorFilledIsContent) {
  const at::Tensor out = fresh();
  run("aten::lift_fresh", "", {out});
  EXPECT_FALSE(state_.table.is_unwritten(out));
}

TEST_F(OpTest, AViewOfAllThatIsPublishedIsThat) {
  const at::Tensor y = at::ones({2});
  const ValuePtr value = publish(y);
  state_.calls.open("n");
  const at::Tensor whole = run("aten::view", "", {y, std::vector<std::int64_t>{2}})[0].toTensor();
  EXPECT_EQ(state_.table.find(whole), value);
}

TEST_F(OpTest, ABoolIsAGuardAndANumberLeaves) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({1});
  bind_input(x, n);
  run("aten::is_nonzero", "", {x});
  EXPECT_TRUE(warnings_.empty());
  const std::vector<BranchCondition> guards = state_.guards.take(n);
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_TRUE(guards[0].taken);
  run("aten::item", "", {x});
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("a value of node 'n' leaves the graph through aten::item"), std::string::npos);
  EXPECT_TRUE(state_.guards.take(n).empty());
}

TEST_F(OpTest, ANumberOfAConstantIsRemembered) {
  state_.calls.open("n");
  const at::Tensor constant = at::full({1}, 2.0);
  run("aten::item", "", {constant});
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(state_.numbers_of_constants.size(), 1U);
}

TEST_F(OpTest, RowsAreAGuardAndTheyStayInTheTrace) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::zeros({3});
  bind_input(x, n);
  const at::Tensor places = run("aten::nonzero", "", {x})[0].toTensor();
  EXPECT_EQ(name_of_op(places), "aten::nonzero");
  const std::vector<BranchCondition> guards = state_.guards.take(n);
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_TRUE(guards[0].rows);
  EXPECT_FALSE(guards[0].taken);
}

TEST_F(OpTest, BetweenNodesTheFirstOperatorIsTheGlue) {
  const at::Tensor y = at::ones({2});
  const ValuePtr value = publish(y);
  const at::Tensor copy = run("aten::clone", "", {y, c10::IValue()})[0].toTensor();
  EXPECT_EQ(state_.table.find(copy), value);
  const at::Tensor scaled = run("aten::neg", "", {copy})[0].toTensor();
  const at::Tensor again = run("aten::exp", "", {scaled})[0].toTensor();
  const ValuePtr glue = state_.table.find(again);
  ASSERT_EQ(glue->kind, TracedKind::kGlue);
  EXPECT_EQ(glue->origin->glue_op, "aten::neg");
  EXPECT_EQ(glue->origin->source, value);
}

TEST_F(OpTest, BetweenNodesWhatIsOverwrittenIsNotPublishedAnyMore) {
  const at::Tensor y = at::ones({2});
  publish(y);
  run("aten::copy_", "", {y, at::zeros({2}), false});
  const ValuePtr value = state_.table.find(y);
  EXPECT_TRUE(!value || value->kind != TracedKind::kPublished);
}

TEST_F(OpTest, AnOperatorOfALibraryIsExplainedByWhatItCalled) {
  const ActivationId n = state_.calls.open("n");
  const at::Tensor x = at::ones({2});
  bind_input(x, n);
  const PendingOp outer = read("aten::neg", "", {x});
  const at::Tensor unknown = at::ones({2});
  const std::vector<c10::IValue> not_seen{unknown};
  EXPECT_FALSE(results_.fully_decomposed(outer, not_seen));
  const std::vector<c10::IValue> seen = run("aten::neg", "", {x});
  EXPECT_TRUE(results_.fully_decomposed(outer, seen));
}

}  // namespace
}  // namespace leapp::capture
