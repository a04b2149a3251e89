// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/branch_conditions.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

class GuardsTest : public ::testing::Test {
 protected:
  static ValuePtr value(at::ScalarType dtype, std::initializer_list<std::int64_t> sizes) {
    ValuePtr made = make_value(TracedKind::kInput, {dtype, c10::DimVector(sizes)}, {.port = "x"});
    made->owner = 1;
    return made;
  }
  std::shared_ptr<TraceOp> op(const char* name, const char* overload, std::vector<TraceArgument> arguments) {
    return builder_.make(op_info(name, overload), std::move(arguments));
  }
  std::shared_ptr<TraceOp> on(const char* name, const ValuePtr& operand) {
    return op(name, "", {TraceArgument::of(operand)});
  }
  std::shared_ptr<TraceOp> two(const char* name, const ValuePtr& a, const ValuePtr& b) {
    return op(name, "", {TraceArgument::of(a), TraceArgument::of(b)});
  }
  std::shared_ptr<TraceOp> index(std::vector<ValuePtr> indices) {
    return op("aten::index", "Tensor",
              {TraceArgument::of(value(at::kFloat, {3, 3})), TraceArgument::of(std::move(indices))});
  }
  /// "aten::sum aten::gt": what has to be computed, in its order.
  static std::string computed(const ValuePtr& value) {
    std::string names;
    for (const TraceOp* op : slice_of({value}).ops) names += (names.empty() ? "" : " ") + op->info->qualified_name();
    return names;
  }

  TraceBuilder builder_{[](auto&&...) {}};
};

TEST_F(GuardsTest, ItemDecidesOnlyWhereItGivesABool) {
  EXPECT_TRUE(is_decision(*on("aten::is_nonzero", value(at::kFloat, {1}))));
  EXPECT_TRUE(is_decision(*on("aten::item", value(at::kBool, {}))));
  EXPECT_FALSE(is_decision(*on("aten::item", value(at::kFloat, {}))));
}

TEST_F(GuardsTest, TensorsOfOtherSizesAreNotComparedInTheModel) {
  const ValuePtr three = value(at::kFloat, {3});
  EXPECT_TRUE(is_decision(*two("aten::equal", three, value(at::kFloat, {3}))));
  EXPECT_FALSE(is_decision(*two("aten::equal", three, value(at::kFloat, {1, 3}))));
  EXPECT_FALSE(is_decision(*op("aten::equal", "", {TraceArgument::of(c10::IValue(2)), TraceArgument::of(three)})));
}

TEST_F(GuardsTest, RowsByOneMaskOnly) {
  const ValuePtr mask = value(at::kBool, {3});
  const ValuePtr numbers = value(at::kLong, {3});
  EXPECT_TRUE(gives_rows(*on("aten::nonzero", numbers)));
  EXPECT_TRUE(gives_rows(*two("aten::masked_select", numbers, mask)));
  EXPECT_TRUE(gives_rows(*on("aten::where", mask)));
  EXPECT_TRUE(gives_rows(*index({nullptr, mask})));
  EXPECT_FALSE(gives_rows(*index({numbers})));
  EXPECT_FALSE(gives_rows(*index({mask, mask})));
  EXPECT_FALSE(gives_rows(*on("aten::sum", numbers)));
}

TEST_F(GuardsTest, WhatDecidesIsComputed) {
  const ValuePtr one = value(at::kFloat, {1, 1});
  const ValuePtr truth = predicate({.op = on("aten::is_nonzero", one)}, builder_);
  EXPECT_TRUE(truth->type == ValueType({at::kBool, {}}));
  EXPECT_EQ(computed(truth), "aten::reshape aten::to.dtype");

  const ValuePtr three = value(at::kFloat, {3});
  EXPECT_EQ(computed(predicate({.op = two("aten::equal", three, value(at::kFloat, {3}))}, builder_)),
            "aten::eq.Tensor aten::all");
}

TEST_F(GuardsTest, TolerancesOfAllcloseAreKept) {
  const ValuePtr three = value(at::kFloat, {3});
  const auto close =
      op("aten::allclose", "",
         {TraceArgument::of(three), TraceArgument::of(value(at::kFloat, {3})), TraceArgument::of(c10::IValue(0.25)),
          TraceArgument::of(c10::IValue(0.5)), TraceArgument::of(c10::IValue(true))});
  const ValuePtr truth = predicate({.op = close}, builder_);
  ASSERT_EQ(computed(truth), "aten::isclose aten::all");
  const TraceOp& compared = *truth->op->arguments[0].tensor->op;
  EXPECT_EQ(compared.arguments[2].attribute.toDouble(), 0.25);
  EXPECT_EQ(compared.arguments[3].attribute.toDouble(), 0.5);
  EXPECT_TRUE(compared.arguments[4].attribute.toBool());
}

TEST_F(GuardsTest, RowsAreDecidedByTheMaskAndNotByWhatIsTaken) {
  const ValuePtr mask = value(at::kBool, {3});
  const ValuePtr any = predicate({.op = index({nullptr, mask}), .rows = true}, builder_);
  ASSERT_EQ(computed(any), "aten::any");
  EXPECT_EQ(any->op->arguments[0].tensor, mask);
  // Of numbers: whether there is one beside zero.
  EXPECT_EQ(computed(predicate({.op = on("aten::nonzero", value(at::kLong, {3})), .rows = true}, builder_)),
            "aten::to.dtype aten::any");
}

TEST_F(GuardsTest, TheSameQuestionIsOneOfTheSameLine) {
  builder_.set_current(nullptr, intern_location("guards.py", 1, ""));
  const BranchCondition first{.op = on("aten::is_nonzero", value(at::kBool, {})), .taken = true};
  const BranchCondition again{.op = on("aten::is_nonzero", value(at::kFloat, {}))};
  builder_.set_current(nullptr, intern_location("guards.py", 2, ""));
  const BranchCondition elsewhere{.op = on("aten::is_nonzero", value(at::kBool, {})), .taken = true};
  EXPECT_TRUE(same_question(first, again));
  EXPECT_FALSE(same_question(first, elsewhere));
  EXPECT_FALSE(same_question(first, {.op = first.op, .rows = true}));
}

TEST_F(GuardsTest, TheLogIsOfOpenCallsAndHasAnEnd) {
  const BranchCondition guard{.op = on("aten::is_nonzero", value(at::kBool, {}))};
  ConditionLog log;
  log.add(0, guard);
  EXPECT_TRUE(log.take(0).empty());
  for (std::size_t i = 0; i < ConditionLog::kMost + 5; ++i) log.add(1, guard);
  log.add(2, guard);
  EXPECT_EQ(log.take(1).size(), ConditionLog::kMost);
  EXPECT_TRUE(log.take(1).empty());
  log.close(2);
  EXPECT_TRUE(log.take(2).empty());
}

}  // namespace
}  // namespace leapp::capture
