// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "engine/native/kernels/levels_test.h"
#include "engine/native/kernels/storage.h"

namespace leapp::native::kernels {
namespace {

using Kind = ElementwiseOp::Kind;

class ElementwiseTest : public LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, ElementwiseTest, all_levels(), level_name);

ElementwiseOp unary(Unary function, std::uint8_t result, std::uint8_t a, float alpha = 0, float beta = 0) {
  ElementwiseOp op;
  op.unary = function, op.result = result, op.a = a, op.alpha = alpha, op.beta = beta;
  return op;
}

ElementwiseOp binary(Binary function, std::uint8_t result, std::uint8_t a, std::uint8_t b) {
  ElementwiseOp op;
  op.kind = Kind::kBinary;
  op.binary = function, op.result = result, op.a = a, op.b = b;
  return op;
}

/// clip((x - row) * column, -scalar...) with operands of every shape, in rows longer and shorter than a block.
TEST_P(ElementwiseTest, OperandsOfEveryShape) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 300}, {3, 7}, {5, 257}, {700, 1}, {90, 12}}) {
    std::vector<float> x = random_floats(rows * columns, 1);
    std::vector<float> row = random_floats(columns, 2);
    std::vector<float> column = random_floats(rows, 3);
    float scalar = 0.25F;
    std::vector<float> y(x.size());
    Elementwise args;
    args.rows = rows, args.columns = columns;
    args.input_count = 4, args.output_count = 1, args.op_count = 4;
    args.operands[0] = {x.data(), Storage::kFloat32, 0, 1, columns};
    args.operands[1] = {row.data(), Storage::kFloat32, 1, 1, 0};
    args.operands[2] = {column.data(), Storage::kFloat32, 2, 0, 1};
    args.operands[3] = {&scalar, Storage::kFloat32, 3, 0, 0};
    args.operands[4] = {y.data(), Storage::kFloat32, 3, 1, columns};
    args.ops[0] = binary(Binary::kSub, 0, 0, 1);
    args.ops[1] = binary(Binary::kMul, 0, 0, 2);
    args.ops[2] = binary(Binary::kAdd, 3, 0, 3);  // over the scalar
    args.ops[3] = unary(Unary::kClip, 3, 3, -0.5F, 0.5F);
    elementwise(args);
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const float wanted = (x[static_cast<std::size_t>(i)] - row[static_cast<std::size_t>(i % columns)]) *
                               column[static_cast<std::size_t>(i / columns)] +
                           scalar;
      ASSERT_EQ(y[static_cast<std::size_t>(i)], std::min(std::max(wanted, -0.5F), 0.5F))
          << rows << ' ' << columns << ' ' << i;
    }
  }
}

/// Rows of which a block holds many, few, one, none whole; read once, or again where an operation has overwritten it.
TEST_P(ElementwiseTest, TheSameRowForEveryRow) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {2, 0}, {2, 1}, {64, 12}, {100, 16}, {33, 48}, {40, 100}, {7, 255}, {9, 256}, {3, 257}, {300, 5}}) {
    for (const bool overwritten : {false, true}) {
      std::vector<float> x = random_floats(rows * columns, 1);
      std::vector<std::uint16_t> half(static_cast<std::size_t>(columns));
      for (std::size_t i = 0; i < half.size(); ++i) half[i] = narrow_float16(0.01F * static_cast<float>(i) - 1);
      std::vector<float> row = random_floats(columns, 2);
      std::vector<float> y(x.size());
      Elementwise args;
      args.rows = rows, args.columns = columns;
      args.input_count = 3, args.output_count = 1, args.op_count = 2;
      args.operands[0] = {x.data(), Storage::kFloat32, 0, 1, columns};
      args.operands[1] = {row.data(), Storage::kFloat32, 1, 1, 0};
      args.operands[2] = {half.data(), Storage::kFloat16, 2, 1, 0};
      const std::uint8_t passed = overwritten ? 1 : 3;
      args.operands[3] = {y.data(), Storage::kFloat32, passed, 1, columns};
      args.ops[0] = binary(Binary::kSub, passed, 0, 1);
      args.ops[1] = binary(Binary::kMul, passed, passed, 2);
      elementwise(args);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t at = i % static_cast<std::size_t>(columns);
        ASSERT_EQ(y[i], (x[i] - row[at]) * widen_float16(half[at])) << rows << ' ' << columns << ' ' << i;
      }
    }
  }
}

TEST_P(ElementwiseTest, AnOutputInPlaceOfAnInputThatIsStillRead) {
  std::vector<float> x = random_floats(1000, 1);
  const std::vector<float> before = x;
  std::vector<float> copy(x.size());
  Elementwise args;
  args.columns = 1000;
  args.input_count = 1, args.output_count = 2, args.op_count = 2;
  args.operands[0] = {x.data(), Storage::kFloat32, 0, 1, 0};
  args.operands[1] = {x.data(), Storage::kFloat32, 1, 1, 0};
  args.operands[2] = {copy.data(), Storage::kFloat32, 0, 1, 0};
  args.ops[0] = unary(Unary::kNeg, 1, 0);
  args.ops[1] = binary(Binary::kAdd, 1, 1, 1);
  elementwise(args);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i], -2 * before[i]);
    ASSERT_EQ(copy[i], before[i]);
  }
}

TEST_P(ElementwiseTest, NarrowAndBooleanOperands) {
  std::vector<float> x = random_floats(600, 1);
  std::vector<std::uint8_t> mask(600);
  std::vector<std::uint16_t> half(600);
  std::vector<std::uint16_t> result(600);
  std::vector<std::uint8_t> truth(600);
  for (std::size_t i = 0; i < 600; ++i) {
    half[i] = narrow_float16(0.001F * static_cast<float>(i));
    mask[i] = i % 3 == 0 ? 1 : 0;
  }
  Elementwise args;
  args.columns = 600;
  args.input_count = 3, args.output_count = 2, args.op_count = 2;
  args.operands[0] = {x.data(), Storage::kFloat32, 0, 1, 0};
  args.operands[1] = {mask.data(), Storage::kBool, 1, 1, 0};
  args.operands[2] = {half.data(), Storage::kFloat16, 2, 1, 0};
  args.operands[3] = {result.data(), Storage::kBFloat16, 3, 1, 0};
  args.operands[4] = {truth.data(), Storage::kBool, 4, 1, 0};
  args.ops[0].kind = Kind::kWhere;
  args.ops[0].result = 3, args.ops[0].a = 1, args.ops[0].b = 0, args.ops[0].c = 2;
  args.ops[1] = binary(Binary::kLess, 4, 0, 2);
  elementwise(args);
  for (std::size_t i = 0; i < 600; ++i) {
    const float other = widen_float16(half[i]);
    ASSERT_EQ(result[i], narrow_bfloat16(i % 3 == 0 ? x[i] : other));
    ASSERT_EQ(truth[i], x[i] < other ? 1 : 0);
  }
}

TEST_P(ElementwiseTest, RowsOfAnOutputMayStandApart) {
  std::vector<float> x = random_floats(4 * 100, 1);
  std::vector<float> y(4 * 130, 9.0F);
  Elementwise args;
  args.rows = 4, args.columns = 100;
  args.input_count = 1, args.output_count = 1, args.op_count = 1;
  args.operands[0] = {x.data(), Storage::kFloat32, 0, 1, 100};
  args.operands[1] = {y.data(), Storage::kFloat32, 0, 1, 130};
  args.ops[0] = unary(Unary::kAbs, 0, 0);
  elementwise(args);
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y[i], i % 130 < 100 ? std::fabs(x[i / 130 * 100 + i % 130]) : 9.0F);
  }
}

}  // namespace
}  // namespace leapp::native::kernels
