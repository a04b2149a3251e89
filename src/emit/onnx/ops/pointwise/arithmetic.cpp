// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of two or three tensors, element by element, in the dtype torch promotes them to: the result's.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/pointwise/elementary.h"
#include "emit/onnx/ops/pointwise/integers.h"

namespace leapp::onnx_ops {
namespace {

Tensor self(OpBuilder& b) { return b.operand("self", b.result().dtype); }
Tensor other(OpBuilder& b) { return b.operand("other", b.result().dtype); }

Tensor scaled(OpBuilder& b, const Tensor& x, std::string_view factor) {
  const Scalar number = b.scalar(factor);
  return to_double(number) == 1.0 ? x : b.binary("Mul", x, b.constant(number, x.dtype));
}

/// self op alpha * other.
void add_or_subtract(OpBuilder& b) { b.bind(b.binary(b.onnx_op(), self(b), scaled(b, other(b), "alpha"))); }

void reverse_subtract(OpBuilder& b) { b.bind(b.binary("Sub", other(b), scaled(b, self(b), "alpha"))); }

void binary(OpBuilder& b) { b.bind(b.binary(b.onnx_op(), self(b), other(b))); }

/// C's remainder, and where it has not the sign of the divisor.
struct Remainder {
  Tensor rest;
  Tensor other_sign;
};

Remainder c_remainder(OpBuilder& b, const Tensor& x, const Tensor& y) {
  const Tensor rest = b.binary("Mod", x, y, {{"fmod", std::int64_t{1}}});
  const Tensor differ = b.binary("Xor", compare_number(b, "Less", rest, 0), compare_number(b, "Less", y, 0));
  return {rest, b.binary("And", differ, b.logical_not(compare_number(b, "Equal", rest, 0)))};
}

Tensor floored_remainder(OpBuilder& b, const Tensor& x, const Tensor& y) {
  if (!is_floating(x.dtype)) return b.binary("Mod", x, y);
  const auto [rest, other_sign] = c_remainder(b, x, y);
  return b.where(other_sign, b.binary("Add", rest, y), rest);
}

/// What torch computes for floats, step by step: exact where x / y rounds up to an integer.
Tensor floor_quotient(OpBuilder& b, const Tensor& x, const Tensor& y) {
  if (!is_floating(x.dtype)) return b.binary("Div", b.binary("Sub", x, b.binary("Mod", x, y)), y);
  const auto [rest, other_sign] = c_remainder(b, x, y);
  const Tensor towards_zero = b.binary("Div", b.binary("Sub", x, rest), y);
  const Tensor quotient = b.where(other_sign, with_number(b, "Sub", towards_zero, 1), towards_zero);
  const Tensor down = b.unary("Floor", quotient);
  const Tensor off = compare_number(b, "Greater", b.binary("Sub", quotient, down), 0.5);
  const Tensor rounded = b.where(off, with_number(b, "Add", down, 1), down);
  return b.where(compare_number(b, "Equal", y, 0), b.binary("Div", x, y), rounded);
}

void divide_mode(OpBuilder& b) {
  const Tensor x = self(b);
  const Tensor y = other(b);
  const std::string mode = b.has("rounding_mode") ? b.text("rounding_mode") : "";
  if (mode == "floor") return b.bind(floor_quotient(b, x, y));
  const Tensor quotient = b.binary("Div", x, y);
  b.bind(mode == "trunc" ? truncate(b, quotient) : quotient);
}

void floor_divide(OpBuilder& b) { b.bind(floor_quotient(b, self(b), other(b))); }

void remainder(OpBuilder& b) { b.bind(floored_remainder(b, self(b), other(b))); }

void fmod(OpBuilder& b) { b.bind(b.binary("Mod", self(b), other(b), {{"fmod", std::int64_t{1}}})); }

/// By squaring, which is exact and wraps as torch's does.
Tensor integer_power(OpBuilder& b, const Tensor& x, std::int64_t exponent) {
  Tensor result = b.constant(std::int64_t{1}, x.dtype);
  bool first = true;
  Tensor factor = x;
  for (std::int64_t rest = exponent; rest > 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      result = first ? factor : b.binary("Mul", result, factor);
      first = false;
    }
    if (rest > 1) factor = b.binary("Mul", factor, factor);
  }
  return first ? b.expand(result, x.shape) : result;
}

void power(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor x = self(b);
  if (!b.is_number("exponent")) {
    if (!is_floating(dtype)) return b.refuse("runtimes round integer powers; compute this in floating point");
    return b.bind(b.binary("Pow", x, b.operand("exponent", dtype)));
  }
  const double exponent = b.number("exponent");
  if (!is_floating(dtype)) {
    if (exponent < 0) return b.refuse("ONNX has no negative powers of integers");
    return b.bind(b.expand(integer_power(b, x, b.integer("exponent")), b.result().shape));
  }
  if (exponent == 2 || exponent == 3) return b.bind(integer_power(b, x, static_cast<std::int64_t>(exponent)));
  if (exponent == 0.5) return b.bind(b.unary("Sqrt", x));
  if (exponent == -1) return b.bind(b.unary("Reciprocal", x));
  b.bind(with_number(b, "Pow", x, exponent));
}

void float_power(OpBuilder& b) { b.bind(b.binary("Pow", self(b), b.operand("exponent", b.result().dtype))); }

/// The other operand where one is NaN.
void max_or_min_of_numbers(OpBuilder& b) {
  const Tensor x = self(b);
  const Tensor y = other(b);
  const Tensor best = b.binary(b.onnx_op(), x, y);
  if (!is_floating(x.dtype)) return b.bind(best);
  b.bind(b.where(is_nan(b, x), y, b.where(is_nan(b, y), x, best)));
}

void clamp(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor low = b.has("min") ? b.operand("min", dtype) : Tensor{};
  const Tensor high = b.has("max") ? b.operand("max", dtype) : Tensor{};
  b.bind(b.clip(self(b), low, high));
}

void atan2(OpBuilder& b) { b.bind(angle_of(b, self(b), other(b))); }

void hypot(OpBuilder& b) { b.bind(length_of(b, self(b), other(b))); }

void copysign(OpBuilder& b) {
  const Tensor size = b.unary("Abs", self(b));
  b.bind(b.where(sign_bit(b, other(b)), b.unary("Neg", size), size));
}

void lerp(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor start = self(b);
  const Tensor end = b.operand("end", dtype);
  const Tensor weight = b.operand("weight", dtype);
  const Tensor distance = b.binary("Sub", end, start);
  const Tensor near_start = b.binary("Add", start, b.binary("Mul", weight, distance));
  const Tensor rest = number_with(b, "Sub", 1, weight);
  const Tensor near_end = b.binary("Sub", end, b.binary("Mul", distance, rest));
  if (b.is_number("weight")) return b.bind(std::abs(b.number("weight")) < 0.5 ? near_start : near_end);
  const Tensor first = compare_number(b, "Less", b.unary("Abs", weight), 0.5);
  b.bind(b.where(first, near_start, near_end));
}

/// self + value * tensor1 op tensor2.
void add_combined(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor first = scaled(b, b.operand("tensor1", dtype), "value");
  b.bind(b.binary("Add", self(b), b.binary(b.onnx_op(), first, b.operand("tensor2", dtype))));
}

void ldexp(OpBuilder& b) { b.bind(b.binary("Mul", self(b), number_with(b, "Pow", 2, other(b)))); }

void log_add_exp(OpBuilder& b) {
  const double base = b.onnx_op() == "2" ? std::numbers::ln2 : 1.0;
  const Tensor x = self(b);
  const Tensor y = other(b);
  const Tensor large = b.binary("Max", x, y);
  const Tensor distance = b.unary("Neg", b.unary("Abs", b.binary("Sub", x, y)));
  const Tensor scaled_distance = base == 1.0 ? distance : with_number(b, "Mul", distance, base);
  Tensor extra = log_of_one_plus(b, b.unary("Exp", scaled_distance));
  if (base != 1.0) extra = with_number(b, "Div", extra, base);
  // Two equal infinities have no distance.
  const Tensor infinite = b.binary("And", b.compare("Equal", x, y), is_inf(b, x));
  b.bind(b.where(infinite, x, b.binary("Add", large, extra)));
}

/// x log(y), or log(1 + y), with 0 where x is 0, unless y is NaN.
void x_log_y(OpBuilder& b) {
  const Tensor x = self(b);
  const Tensor y = other(b);
  const Tensor log = b.onnx_op() == "1p" ? log_of_one_plus(b, y) : b.unary("Log", y);
  const Tensor zero = b.binary("And", compare_number(b, "Equal", x, 0), b.logical_not(is_nan(b, y)));
  b.bind(b.where(zero, b.constant(0.0, x.dtype), b.binary("Mul", x, log)));
}

void heaviside(OpBuilder& b) {
  const Tensor x = self(b);
  const Tensor step = b.cast(compare_number(b, "Greater", x, 0), x.dtype);
  b.bind(b.where(compare_number(b, "Equal", x, 0), b.operand("values", x.dtype), step));
}

void bitwise(OpBuilder& b) {
  const Tensor x = self(b);
  if (x.dtype == DType::kBool) return b.bind(b.binary(b.onnx_op(), x, other(b)));
  if (b.opset() < 18) return b.refuse("bitwise operators on integers need opset_version 18 or above");
  b.bind(b.binary("Bitwise" + b.onnx_op(), x, other(b)));
}

void multiply_by_power_of_two(OpBuilder& b) {
  const bool left = b.onnx_op() == "Mul";
  const std::int64_t count = b.is_number("other") ? b.integer("other") : -1;
  const auto bits = static_cast<std::int64_t>(8 * dtype_size(b.result().dtype));
  if (count < 0 || count > std::min<std::int64_t>(bits, 63) - 1) return left ? shift_left(b) : shift_right(b);
  const Tensor factor = b.constant(std::int64_t{1} << count, b.result().dtype);
  b.bind(left ? b.binary("Mul", self(b), factor) : floor_quotient(b, self(b), factor));
}

constexpr std::array kArithmeticOps = {
    EmitEntry{"aten::add.Scalar", add_or_subtract, "Add"},
    EmitEntry{"aten::add.Tensor", add_or_subtract, "Add"},
    EmitEntry{"aten::addcdiv", add_combined, "Div"},
    EmitEntry{"aten::addcmul", add_combined, "Mul"},
    EmitEntry{"aten::arctan2", atan2},
    EmitEntry{"aten::atan2", atan2},
    EmitEntry{"aten::__and__.Scalar", bitwise, "And"},
    EmitEntry{"aten::__and__.Tensor", bitwise, "And"},
    EmitEntry{"aten::__lshift__.Scalar", multiply_by_power_of_two, "Mul"},
    EmitEntry{"aten::__or__.Scalar", bitwise, "Or"},
    EmitEntry{"aten::__or__.Tensor", bitwise, "Or"},
    EmitEntry{"aten::__rshift__.Scalar", multiply_by_power_of_two, "Div"},
    EmitEntry{"aten::__xor__.Scalar", bitwise, "Xor"},
    EmitEntry{"aten::__xor__.Tensor", bitwise, "Xor"},
    EmitEntry{"aten::bitwise_and.Scalar", bitwise, "And"},
    EmitEntry{"aten::bitwise_and.Scalar_Tensor", bitwise, "And"},
    EmitEntry{"aten::bitwise_and.Tensor", bitwise, "And"},
    EmitEntry{"aten::bitwise_left_shift.Scalar_Tensor", shift_left},
    EmitEntry{"aten::bitwise_left_shift.Tensor", shift_left},
    EmitEntry{"aten::bitwise_left_shift.Tensor_Scalar", multiply_by_power_of_two, "Mul"},
    EmitEntry{"aten::bitwise_or.Scalar", bitwise, "Or"},
    EmitEntry{"aten::bitwise_or.Scalar_Tensor", bitwise, "Or"},
    EmitEntry{"aten::bitwise_or.Tensor", bitwise, "Or"},
    EmitEntry{"aten::bitwise_right_shift.Scalar_Tensor", shift_right},
    EmitEntry{"aten::bitwise_right_shift.Tensor", shift_right},
    EmitEntry{"aten::bitwise_right_shift.Tensor_Scalar", multiply_by_power_of_two, "Div"},
    EmitEntry{"aten::bitwise_xor.Scalar", bitwise, "Xor"},
    EmitEntry{"aten::bitwise_xor.Scalar_Tensor", bitwise, "Xor"},
    EmitEntry{"aten::bitwise_xor.Tensor", bitwise, "Xor"},
    EmitEntry{"aten::clamp", clamp},
    EmitEntry{"aten::clamp.Tensor", clamp},
    EmitEntry{"aten::clamp_max", clamp},
    EmitEntry{"aten::clamp_max.Tensor", clamp},
    EmitEntry{"aten::clamp_min", clamp},
    EmitEntry{"aten::clamp_min.Tensor", clamp},
    EmitEntry{"aten::clip", clamp},
    EmitEntry{"aten::clip.Tensor", clamp},
    EmitEntry{"aten::copysign.Scalar", copysign},
    EmitEntry{"aten::copysign.Tensor", copysign},
    EmitEntry{"aten::div.Scalar", binary, "Div"},
    EmitEntry{"aten::div.Scalar_mode", divide_mode},
    EmitEntry{"aten::div.Tensor", binary, "Div"},
    EmitEntry{"aten::div.Tensor_mode", divide_mode},
    EmitEntry{"aten::divide.Scalar", binary, "Div"},
    EmitEntry{"aten::divide.Scalar_mode", divide_mode},
    EmitEntry{"aten::divide.Tensor", binary, "Div"},
    EmitEntry{"aten::divide.Tensor_mode", divide_mode},
    EmitEntry{"aten::float_power.Scalar", float_power},
    EmitEntry{"aten::float_power.Tensor_Scalar", float_power},
    EmitEntry{"aten::float_power.Tensor_Tensor", float_power},
    EmitEntry{"aten::gcd", gcd},
    EmitEntry{"aten::lcm", lcm},
    EmitEntry{"aten::floor_divide", floor_divide},
    EmitEntry{"aten::floor_divide.Scalar", floor_divide},
    EmitEntry{"aten::fmax", max_or_min_of_numbers, "Max"},
    EmitEntry{"aten::fmin", max_or_min_of_numbers, "Min"},
    EmitEntry{"aten::fmod.Scalar", fmod},
    EmitEntry{"aten::fmod.Tensor", fmod},
    EmitEntry{"aten::heaviside", heaviside},
    EmitEntry{"aten::hypot", hypot},
    EmitEntry{"aten::ldexp.Tensor", ldexp},
    EmitEntry{"aten::lerp.Scalar", lerp},
    EmitEntry{"aten::lerp.Tensor", lerp},
    EmitEntry{"aten::logaddexp", log_add_exp},
    EmitEntry{"aten::logaddexp2", log_add_exp, "2"},
    EmitEntry{"aten::max.other", binary, "Max"},
    EmitEntry{"aten::maximum", binary, "Max"},
    EmitEntry{"aten::min.other", binary, "Min"},
    EmitEntry{"aten::minimum", binary, "Min"},
    EmitEntry{"aten::mul.Scalar", binary, "Mul"},
    EmitEntry{"aten::mul.Tensor", binary, "Mul"},
    EmitEntry{"aten::multiply.Scalar", binary, "Mul"},
    EmitEntry{"aten::multiply.Tensor", binary, "Mul"},
    EmitEntry{"aten::pow.Scalar", power},
    EmitEntry{"aten::pow.Tensor_Scalar", power},
    EmitEntry{"aten::pow.Tensor_Tensor", power},
    EmitEntry{"aten::remainder.Scalar", remainder},
    EmitEntry{"aten::remainder.Scalar_Tensor", remainder},
    EmitEntry{"aten::remainder.Tensor", remainder},
    EmitEntry{"aten::rsub.Scalar", reverse_subtract},
    EmitEntry{"aten::rsub.Tensor", reverse_subtract},
    EmitEntry{"aten::special_xlog1py", x_log_y, "1p"},
    EmitEntry{"aten::special_xlog1py.other_scalar", x_log_y, "1p"},
    EmitEntry{"aten::special_xlog1py.self_scalar", x_log_y, "1p"},
    EmitEntry{"aten::special_xlogy", x_log_y},
    EmitEntry{"aten::sub.Scalar", add_or_subtract, "Sub"},
    EmitEntry{"aten::sub.Tensor", add_or_subtract, "Sub"},
    EmitEntry{"aten::subtract.Scalar", add_or_subtract, "Sub"},
    EmitEntry{"aten::subtract.Tensor", add_or_subtract, "Sub"},
    EmitEntry{"aten::true_divide.Scalar", binary, "Div"},
    EmitEntry{"aten::true_divide.Tensor", binary, "Div"},
    EmitEntry{"aten::xlogy.Scalar_Other", x_log_y},
    EmitEntry{"aten::xlogy.Scalar_Self", x_log_y},
    EmitEntry{"aten::xlogy.Tensor", x_log_y},
};

}  // namespace

Tensor angle_of(OpBuilder& b, const Tensor& y, const Tensor& x) {
  const Tensor down = sign_bit(b, y);
  const Tensor left = sign_bit(b, x);
  // Where |x| = |y| the ratio is known, also of two infinities; of two zeros the angle is y itself.
  const Tensor same = b.compare("Equal", b.unary("Abs", x), b.unary("Abs", y));
  const Tensor one = b.where(b.binary("Xor", down, left), b.constant(-1.0, x.dtype), b.constant(1.0, x.dtype));
  const Tensor angle = arc_tangent(b, b.where(same, one, b.binary("Div", y, x)));
  const Tensor zero = b.binary("And", same, compare_number(b, "Equal", x, 0));
  const Tensor start = b.where(zero, y, angle);
  const Tensor turn = b.where(down, b.constant(-std::numbers::pi, x.dtype), b.constant(std::numbers::pi, x.dtype));
  return b.where(left, b.binary("Add", start, turn), start);
}

Tensor length_of(OpBuilder& b, const Tensor& first, const Tensor& second) {
  const Tensor x = b.unary("Abs", first);
  const Tensor y = b.unary("Abs", second);
  const Tensor large = b.binary("Max", x, y);
  const Tensor ratio = b.binary("Div", b.binary("Min", x, y), large);
  const Tensor root = b.unary("Sqrt", with_number(b, "Add", b.binary("Mul", ratio, ratio), 1));
  const Tensor finite = b.where(compare_number(b, "Equal", large, 0), large, b.binary("Mul", large, root));
  // An infinite side decides, even beside a NaN.
  const Tensor infinite = b.binary("Or", compare_number(b, "Equal", x, kInf), compare_number(b, "Equal", y, kInf));
  return b.where(infinite, b.constant(kInf, x.dtype), finite);
}

EmitEntries arithmetic_ops() { return kArithmeticOps; }

}  // namespace leapp::onnx_ops
