// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/pointwise/integers.h"

#include <limits>

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

constexpr std::int64_t kHighestPower = 62;  // of two in an int64

Tensor integer_argument(OpBuilder& b, std::string_view name) {
  return b.cast(b.operand(name, b.result().dtype), DType::kInt64);
}

Tensor whole(OpBuilder& b, std::int64_t value) { return b.constant(value, DType::kInt64); }

void bind_integer(OpBuilder& b, const Tensor& value) { b.bind(b.cast(value, b.result().dtype)); }

/// 2^count, for counts from 0 to 63; the last is the sign bit.
Tensor power_of_two(OpBuilder& b, const Tensor& count) {
  Ints powers;
  for (std::int64_t i = 0; i <= kHighestPower; ++i) powers.push_back(std::int64_t{1} << i);
  powers.push_back(std::numeric_limits<std::int64_t>::min());
  return b.gather(b.ints(powers), b.clip(count, whole(b, 0), whole(b, kHighestPower + 1)), 0);
}

/// Euclid's algorithm, as many steps as neighbouring Fibonacci numbers of 63 bits need.
Tensor greatest_divisor(OpBuilder& b, const Tensor& x, const Tensor& y) {
  constexpr std::int64_t kSteps = 92;
  const Shape shape = broadcast_shapes(x.shape, y.shape);
  const auto step = [&](const Tensor& /*round*/, const Tensors& values) -> Tensors {
    const Tensor done = compare_number(b, "Equal", values[1], 0);
    const Tensor divisor = b.where(done, whole(b, 1), values[1]);
    const Tensor rest = b.binary("Mod", values[0], divisor);
    return {b.where(done, values[0], values[1]), b.where(done, values[1], rest)};
  };
  const auto size = [&](const Tensor& value) { return b.expand(b.unary("Abs", value), shape); };
  return b.loop(whole(b, kSteps), {size(x), size(y)}, step)[0];
}

}  // namespace

/// By less than nothing, or by more bits than there are, nothing is left.
void shift_left(OpBuilder& b) {
  const Tensor count = integer_argument(b, "other");
  const auto bits = static_cast<double>(8 * dtype_size(b.result().dtype));
  const Tensor outside =
      b.binary("Or", compare_number(b, "Less", count, 0), compare_number(b, "GreaterOrEqual", count, bits));
  const Tensor product = b.binary("Mul", integer_argument(b, "self"), power_of_two(b, count));
  bind_integer(b, b.where(outside, whole(b, 0), product));
}

/// A quotient rounded down; of the sign alone where nothing else is left.
void shift_right(OpBuilder& b) {
  const Tensor x = integer_argument(b, "self");
  const Tensor count = integer_argument(b, "other");
  const Tensor outside = b.binary("Or", compare_number(b, "Less", count, 0),
                                  compare_number(b, "Greater", count, static_cast<double>(kHighestPower)));
  const Tensor divisor = power_of_two(b, b.where(outside, whole(b, 0), count));
  const Tensor quotient = b.binary("Div", x, divisor);
  const Tensor rest = b.binary("Sub", x, b.binary("Mul", quotient, divisor));
  const Tensor down = b.cast(compare_number(b, "Less", rest, 0), DType::kInt64);
  const Tensor sign = b.where(compare_number(b, "Less", x, 0), whole(b, -1), whole(b, 0));
  bind_integer(b, b.where(outside, sign, b.binary("Sub", quotient, down)));
}

void gcd(OpBuilder& b) {
  bind_integer(b, greatest_divisor(b, integer_argument(b, "self"), integer_argument(b, "other")));
}

void lcm(OpBuilder& b) {
  const Tensor x = integer_argument(b, "self");
  const Tensor y = integer_argument(b, "other");
  const Tensor divisor = b.binary("Max", greatest_divisor(b, x, y), whole(b, 1));
  bind_integer(b, b.unary("Abs", b.binary("Mul", b.binary("Div", x, divisor), y)));
}

}  // namespace leapp::onnx_ops
