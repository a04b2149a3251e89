// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What looks at the bits of a float: frexp and nextafter. ONNX has no cast of bits; powers of two are exact in
// float64, which holds every narrower float.
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

struct Split {
  Tensor mantissa;  ///< 1/2 <= |mantissa| < 1
  Tensor exponent;  ///< float64
};

/// x / 2^exponent in two steps, for the power itself may be out of range.
Tensor scaled_down(OpBuilder& b, const Tensor& x, const Tensor& exponent) {
  const Tensor half = b.unary("Floor", with_number(b, "Mul", exponent, 0.5));
  const Tensor once = b.binary("Div", x, number_with(b, "Pow", 2, half));
  return b.binary("Div", once, number_with(b, "Pow", 2, b.binary("Sub", exponent, half)));
}

/// Of finite x other than zero. The logarithm may be off by one at powers of two.
Split split(OpBuilder& b, const Tensor& x) {
  constexpr double kTiny = 0x1p-1000;
  constexpr double kRaise = 100;  // of subnormal numbers, whose logarithm is no kernel's strength
  const Tensor tiny = compare_number(b, "Less", b.unary("Abs", x), kTiny);
  const Tensor normal = b.where(tiny, with_number(b, "Mul", x, std::exp2(kRaise)), x);
  const Tensor log = with_number(b, "Div", b.unary("Log", b.unary("Abs", normal)), std::numbers::ln2);
  const Tensor guess = with_number(b, "Add", b.unary("Floor", log), 1);
  const Tensor size = b.unary("Abs", scaled_down(b, normal, guess));
  const Tensor up = b.cast(compare_number(b, "GreaterOrEqual", size, 1), DType::kFloat64);
  const Tensor down = b.cast(compare_number(b, "Less", size, 0.5), DType::kFloat64);
  const Tensor exponent = b.binary("Sub", b.binary("Add", guess, up), down);
  const Tensor lowered = b.where(tiny, with_number(b, "Sub", exponent, kRaise), exponent);
  return {scaled_down(b, normal, exponent), lowered};
}

void frexp(OpBuilder& b) {
  const Tensor x = b.cast(b.tensor("self"), DType::kFloat64);
  const Split parts = split(b, x);
  const Tensor special = b.binary("Or", compare_number(b, "Equal", x, 0), b.binary("Or", is_inf(b, x), is_nan(b, x)));
  b.bind(0, b.cast(b.where(special, x, parts.mantissa), b.result(0).dtype));
  b.bind(1, b.cast(b.where(special, number(b, 0), parts.exponent), b.result(1).dtype));
}

struct Format {
  int digits;           ///< of the mantissa, with the leading one
  int lowest_exponent;  ///< as frexp's, of normal numbers
};

Format format_of(DType dtype) {
  if (dtype == DType::kFloat64) return {53, -1021};
  if (dtype == DType::kFloat32) return {24, -125};
  if (dtype == DType::kBFloat16) return {8, -125};
  return {11, -13};
}

/// The distance from x to the next number away from zero, or toward it, which is half of that below a power of two.
Tensor gap(OpBuilder& b, const Tensor& x, const Tensor& inward, const Format& format) {
  const Split parts = split(b, x);
  const Tensor power = compare_number(b, "Equal", b.unary("Abs", parts.mantissa), 0.5);
  const Tensor below = b.cast(b.binary("And", inward, power), DType::kFloat64);
  const Tensor exponent = b.binary("Max", b.binary("Sub", parts.exponent, below), number(b, format.lowest_exponent));
  return number_with(b, "Pow", 2, with_number(b, "Sub", exponent, format.digits));
}

void nextafter(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Format format = format_of(dtype);
  const Tensor from = special_argument(b, "self");
  const Tensor to = special_argument(b, "other");
  const Tensor up = b.compare("Greater", to, from);
  const Tensor negative = compare_number(b, "Less", from, 0);
  // Up from a negative number, or down from a positive one.
  const Tensor inward = b.logical_not(b.binary("Xor", up, negative));
  const Tensor toward = b.where(up, number(b, 1), number(b, -1));
  const Tensor step = gap(b, from, inward, format);
  const Tensor smallest = number(b, std::ldexp(1.0, format.lowest_exponent - format.digits));
  const Tensor largest = b.where(negative, number(b, lowest_of(dtype)), number(b, highest_of(dtype)));
  bind_special(b, piecewise(b,
                            {{b.binary("Or", is_nan(b, from), is_nan(b, to)), number(b, kNotANumber)},
                             {b.compare("Equal", from, to), b.expand(to, b.result().shape)},
                             {is_inf(b, from), largest},
                             {compare_number(b, "Equal", from, 0), b.binary("Mul", toward, smallest)}},
                            b.binary("Add", from, b.binary("Mul", toward, step))));
}

constexpr std::array kFloatBitOps = {
    EmitEntry{"aten::frexp.Tensor", frexp},
    EmitEntry{"aten::nextafter", nextafter},
};

}  // namespace

EmitEntries float_bit_ops() { return kFloatBitOps; }

}  // namespace leapp::onnx_ops
