// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/lengths.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/recorder/escapes.h"
#include "capture/trace/record.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

class LengthsTest : public ::testing::Test {
 protected:
  static ValuePtr input(at::ScalarType dtype, std::initializer_list<std::int64_t> sizes) {
    ValuePtr made = make_value(TracedKind::kInput, {dtype, c10::DimVector(sizes)}, {.port = "x"});
    made->owner = 1;
    return made;
  }
  ValuePtr run(const char* name, const char* overload, std::vector<TraceArgument> arguments, ValueType type) {
    return builder_.result(builder_.make(op_info(name, overload), std::move(arguments)), 0, std::move(type));
  }
  /// The places of so many elements that are not zero, doubled.
  ValuePtr found(std::int64_t count) {
    const ValuePtr places = run("aten::nonzero", "", {TraceArgument::of(mask_)}, {at::kLong, {count, 1}});
    return builder_.cast(places, at::kDouble);
  }
  static bool follow(FollowedLengths& lengths, std::vector<std::int64_t> first, std::vector<std::int64_t> now) {
    return lengths.follow(c10::IValue(std::move(first)), c10::IValue(std::move(now)));
  }

  TraceBuilder builder_{[](auto&&...) {}};
  ValuePtr mask_ = input(at::kBool, {8});
};

TEST_F(LengthsTest, OfAnIndexTheDimensionOfItsMask) {
  const ValuePtr x = input(at::kFloat, {7, 8, 2});
  const ValuePtr rows =
      run("aten::index", "Tensor", {TraceArgument::of(x), TraceArgument::of(std::vector<ValuePtr>{nullptr, mask_})},
          {at::kFloat, {7, 3, 2}});
  EXPECT_EQ(data_lengths(rows), std::set<std::int64_t>{3});
  EXPECT_EQ(data_lengths(found(5)), std::set<std::int64_t>{5});
  EXPECT_TRUE(data_lengths(builder_.unary("aten::neg", x)).empty());
}

TEST_F(LengthsTest, SizesThatFollowFromDataDoNotDiffer) {
  FollowedLengths lengths;
  lengths.set_roots(found(3), found(5));
  EXPECT_TRUE(follow(lengths, {3, 2}, {5, 2}));
  EXPECT_TRUE(follow(lengths, {6}, {10}));   // two of each
  EXPECT_FALSE(follow(lengths, {6}, {15}));  // two, and three
  EXPECT_FALSE(follow(lengths, {4}, {5}));
  EXPECT_FALSE(follow(lengths, {3}, {5, 1}));
  EXPECT_FALSE(lengths.follow(c10::IValue(3), c10::IValue(5)));
}

TEST_F(LengthsTest, WithoutDataDependentLengthsAllSizesCount) {
  FollowedLengths lengths;
  lengths.set_roots(builder_.unary("aten::neg", mask_), found(5));
  EXPECT_FALSE(follow(lengths, {3}, {5}));
  EXPECT_TRUE(follow(lengths, {3}, {3}));
  lengths.set_roots(found(3), found(5));
  EXPECT_TRUE(follow(lengths, {3}, {5}));
}

TEST_F(LengthsTest, OneRowThatLostItsDimension) {
  const ValuePtr row = input(at::kFloat, {1, 4});
  const ValuePtr square = input(at::kFloat, {2, 2});
  EXPECT_EQ(with_its_row(builder_.reshape(row, {4})), row);
  const ValuePtr flat = builder_.reshape(square, {4});
  EXPECT_EQ(with_its_row(flat), flat);
  EXPECT_EQ(with_its_row(row), row);
}

TEST_F(LengthsTest, RowsAreComparedWhereOneCallWroteOneAndTheOtherSeveral) {
  const auto op = [&](const char* name) {
    const auto made = std::make_shared<TraceOp>();
    made->info = op_info(name, "");
    return made;
  };
  const ValuePtr one = input(at::kFloat, {1, 4});
  const ValuePtr several = input(at::kFloat, {3, 4});
  const ValuePtr lost = builder_.reshape(one, {4});
  const auto rows = with_their_rows(*op("aten::index_put"), lost, several);
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->first, one);
  EXPECT_EQ(rows->second, several);
  EXPECT_FALSE(with_their_rows(*op("aten::index_put"), lost, lost).has_value());
  EXPECT_FALSE(with_their_rows(*op("aten::index_put"), several, several).has_value());
  EXPECT_FALSE(with_their_rows(*op("aten::neg"), lost, several).has_value());
}

TEST_F(LengthsTest, ALengthWhoseResultNobodyNeedsIsToldOf) {
  std::vector<std::string> warnings;
  Escapes escapes([&](const std::string& text) { warnings.push_back(text); });
  const OpInfo& nonzero = *op_info("aten::nonzero", "");
  builder_.set_current(nullptr, intern_location("lengths.py", 4, ""));
  const ValuePtr needed = found(3);
  escapes.data_dependent_shape("n", nonzero, needed->op->arguments[0].tensor->op->location);
  escapes.data_dependent_shape("n", nonzero, intern_location("lengths.py", 9, ""));
  CaptureResult recording;
  recording.nodes.push_back(std::make_unique<NodeRecord>());
  recording.nodes[0]->name = "n";
  recording.nodes[0]->output_values = {needed};
  report_lengths(escapes, recording);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("lengths.py:9: the shape of the result of aten::nonzero in node 'n'"), std::string::npos)
      << warnings[0];
  ASSERT_EQ(recording.notes.size(), 1U);
  EXPECT_EQ(recording.notes[0].op, "the length of aten::nonzero");
}

}  // namespace
}  // namespace leapp::capture
