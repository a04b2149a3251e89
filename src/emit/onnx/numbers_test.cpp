// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/literals.h"

namespace leapp::onnx_ops {
namespace {

std::vector<std::byte> bytes_of(const graph::Scalar& scalar, DType dtype) {
  std::vector<std::byte> bytes;
  append_number(scalar, dtype, bytes);
  return bytes;
}

TEST(Numbers, HalvesAreRoundedAsTheTextFormRoundsThem) {
  // Every half is a float: what the text form writes for its bits must come back as the same bits.
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      const auto raw = std::as_bytes(std::span(&half, 1));
      const auto text = graph::print_elements(dtype, raw);
      if (!text) continue;  // NaN with a payload
      const double number = to_double(read_number(dtype, raw, 0));
      const auto back = bytes_of(number, dtype);
      if (std::isnan(number)) continue;
      ASSERT_EQ(graph::print_elements(dtype, back), text);
    }
  }
}

TEST(Numbers, TiesGoToEvenAndLargeNumbersToInfinity) {
  const auto half = [](double number) {
    return to_double(read_number(DType::kFloat16, bytes_of(number, DType::kFloat16), 0));
  };
  EXPECT_EQ(half(2049), 2048);
  EXPECT_EQ(half(2051), 2052);
  EXPECT_EQ(half(65519), 65504);
  EXPECT_EQ(half(65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(half(-std::ldexp(1, -25)), 0);
  EXPECT_TRUE(std::isnan(half(std::nan(""))));
}

TEST(Numbers, IntegersWrap) {
  EXPECT_EQ(to_int64(read_number(DType::kInt8, bytes_of(std::int64_t{300}, DType::kInt8), 0)), 44);
  EXPECT_EQ(to_int64(read_number(DType::kUInt8, bytes_of(std::int64_t{-1}, DType::kUInt8), 0)), 255);
}

TEST(Promotion, NumbersDoNotPromoteWithinTheirCategory) {
  EXPECT_EQ(result_type({{DType::kInt8}, {DType::kInt64, true, true}}), DType::kInt8);
  EXPECT_EQ(result_type({{DType::kInt8}, {DType::kFloat32, true, true}}), DType::kFloat32);
  EXPECT_EQ(result_type({{DType::kFloat16}, {DType::kFloat32, true, true}}), DType::kFloat16);
  EXPECT_EQ(result_type({{DType::kBool}, {DType::kInt64, true, true}}), DType::kInt64);
}

TEST(Promotion, ZeroDimensionalTensorsRankLower) {
  EXPECT_EQ(result_type({{DType::kInt8}, {DType::kInt64, true}}), DType::kInt8);
  EXPECT_EQ(result_type({{DType::kFloat16}, {DType::kFloat64, true}}), DType::kFloat16);
  EXPECT_EQ(result_type({{DType::kInt32}, {DType::kFloat64, true}}), DType::kFloat64);
  EXPECT_EQ(result_type({{DType::kInt8, true}, {DType::kInt64, true}}), DType::kInt64);
}

TEST(Promotion, OfTensors) {
  EXPECT_EQ(promote_types(DType::kUInt8, DType::kInt8), DType::kInt16);
  EXPECT_EQ(promote_types(DType::kUInt8, DType::kInt32), DType::kInt32);
  EXPECT_EQ(promote_types(DType::kFloat16, DType::kBFloat16), DType::kFloat32);
  EXPECT_EQ(promote_types(DType::kInt64, DType::kFloat16), DType::kFloat16);
  EXPECT_EQ(promote_types(DType::kBool, DType::kUInt8), DType::kUInt8);
}

}  // namespace
}  // namespace leapp::onnx_ops
