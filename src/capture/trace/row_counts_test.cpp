// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/row_counts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

class RowCountsTest : public ::testing::Test {
 protected:
  void SetUp() override { forget_rows(); }
  void TearDown() override { forget_rows(); }

  static ValuePtr input(at::ScalarType dtype, std::initializer_list<std::int64_t> sizes) {
    ValuePtr made = make_value(TracedKind::kInput, {dtype, c10::DimVector(sizes)}, {.port = "x"});
    made->owner = 1;
    return made;
  }
  ValuePtr run(const char* name, const char* overload, std::vector<TraceArgument> arguments, ValueType type) {
    return builder_.result(builder_.make(op_info(name, overload), std::move(arguments)), 0, std::move(type));
  }
  ValuePtr found(std::int64_t count) {
    return run("aten::nonzero", "", {TraceArgument::of(mask_)}, {at::kLong, {count, 2}});
  }
  /// A column of what nonzero gave, as a view of its memory is read.
  ValuePtr column(std::int64_t count) {
    return builder_.as_strided(builder_.reshape(found(count), {count * 2}), {count}, {2}, 1);
  }
  ValuePtr indexed(const ValuePtr& x, std::vector<ValuePtr> indices, c10::DimVector sizes) {
    return run("aten::index", "Tensor", {TraceArgument::of(x), TraceArgument::of(std::move(indices))},
               {at::kFloat, std::move(sizes)});
  }

  TraceBuilder builder_{[](auto&&...) {}};
  ValuePtr mask_ = input(at::kBool, {4, 4});
};

TEST_F(RowCountsTest, NoDimensionUntilAnOperatorHasChosenRows) {
  EXPECT_FALSE(any_rows());
  EXPECT_EQ(builder_.unary("aten::neg", input(at::kFloat, {3}))->rows.dim, -1);
  const ValuePtr ids = found(3);
  EXPECT_TRUE(any_rows());
  EXPECT_EQ(ids->rows.dim, 0);
  EXPECT_EQ(ids->rows.source, ids->op.get());
}

TEST_F(RowCountsTest, TheSameDimensionForEveryNumberOfRows) {
  for (const std::int64_t count : {0, 1, 2, 4}) {
    const ValuePtr ids = column(count);
    EXPECT_EQ(ids->rows.dim, 0) << count;
    EXPECT_EQ(ids->rows.unit, 1) << count;
    EXPECT_EQ(builder_.unary("aten::neg", ids)->rows.dim, 0) << count;
    EXPECT_EQ(indexed(input(at::kFloat, {4, 5}), {ids}, {count, 5})->rows.dim, 0) << count;
    EXPECT_EQ(indexed(input(at::kFloat, {5, 4}), {nullptr, ids}, {5, count})->rows.dim, 1) << count;
  }
}

TEST_F(RowCountsTest, ViewsOfOtherDimensionsHaveTheSameRows) {
  const auto view = [&](const char* name, const char* overload, std::vector<TraceArgument> rest, c10::DimVector sizes) {
    std::vector<TraceArgument> arguments{TraceArgument::of(found(3))};
    for (TraceArgument& argument : rest) arguments.push_back(std::move(argument));
    return run(name, overload, std::move(arguments), {at::kLong, std::move(sizes)})->rows.dim;
  };
  const auto number = [](std::int64_t value) { return TraceArgument::of(c10::IValue(value)); };
  EXPECT_EQ(view("aten::select", "int", {number(-1), number(0)}, {3}), 0);
  EXPECT_EQ(view("aten::select", "int", {number(0), number(0)}, {2}), -1);
  EXPECT_EQ(view("aten::slice", "Tensor", {number(1), number(0), number(1), number(1)}, {3, 1}), 0);
  EXPECT_EQ(view("aten::slice", "Tensor", {number(0), number(0), number(2), number(1)}, {2, 2}), -1);
  EXPECT_EQ(view("aten::unbind", "int", {number(1)}, {3}), 0);
}

TEST_F(RowCountsTest, FlattenedRowsHaveSeveralElementsEach) {
  const ValuePtr flat = builder_.reshape(found(3), {6});
  EXPECT_EQ(flat->rows.dim, 0);
  EXPECT_EQ(flat->rows.unit, 2);
}

TEST_F(RowCountsTest, AWriteToRowsHasTheShapeOfItsTarget) {
  const ValuePtr x = input(at::kFloat, {4});
  const ValuePtr written = run("aten::index_put", "",
                               {TraceArgument::of(x), TraceArgument::of(std::vector<ValuePtr>{column(4)}),
                                TraceArgument::of(input(at::kFloat, {4})), TraceArgument::of(c10::IValue(false))},
                               {at::kFloat, {4}});
  EXPECT_EQ(written->rows.dim, -1);
  EXPECT_EQ(run("aten::sum", "", {TraceArgument::of(column(4))}, {at::kLong, {}})->rows.dim, -1);
}

TEST_F(RowCountsTest, QuestionsAreAboutRowsWhileOneSaysSo) {
  EXPECT_FALSE(AboutRows::asked());
  {
    const AboutRows about;
    EXPECT_TRUE(AboutRows::asked());
  }
  EXPECT_FALSE(AboutRows::asked());
}

}  // namespace
}  // namespace leapp::capture
