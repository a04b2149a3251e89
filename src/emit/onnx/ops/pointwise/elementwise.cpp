// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of one tensor.
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/pointwise/elementary.h"

namespace leapp::onnx_ops {
namespace {

/// The argument in the result's dtype: integers compute as floats where torch says so.

/// Of float64 by formula.
template <Tensor (*wide)(OpBuilder& b, const Tensor& x)>
void unary_or(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(x.dtype == DType::kFloat64 ? wide(b, x) : b.unary(b.onnx_op(), x));
}

/// floor, ceil, round: nothing to do for integers.
void rounding(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(is_floating(x.dtype) ? b.unary(b.onnx_op(), x) : x);
}

void positive(OpBuilder& b) { b.bind(b.tensor("self")); }

void absolute(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(x.dtype == DType::kBool ? x : b.unary("Abs", x));
}

void sign(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.dtype == DType::kBool) return b.bind(x);
  const Tensor sign = b.unary("Sign", x);
  // torch's sign of NaN is zero.
  if (!is_floating(x.dtype)) return b.bind(sign);
  b.bind(b.where(is_nan(b, x), b.constant(0.0, x.dtype), sign));
}

void trunc(OpBuilder& b) { b.bind(truncate(b, input(b))); }

void frac(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(b.binary("Sub", x, truncate(b, x)));
}

void round_decimals(OpBuilder& b) {
  const Tensor x = input(b);
  if (!is_floating(x.dtype)) return b.bind(x);
  const std::int64_t decimals = b.integer("decimals");
  if (decimals == 0) return b.bind(b.unary("Round", x));
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  const Tensor scaled = b.unary("Round", with_number(b, decimals > 0 ? "Mul" : "Div", x, scale));
  b.bind(with_number(b, decimals > 0 ? "Div" : "Mul", scaled, scale));
}

void square(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(b.binary("Mul", x, x));
}

void rsqrt(OpBuilder& b) { b.bind(b.unary("Reciprocal", b.unary("Sqrt", input(b)))); }

void exp2(OpBuilder& b) { b.bind(number_with(b, "Pow", 2, input(b))); }

void expm1(OpBuilder& b) { b.bind(exp_minus_one(b, input(b))); }

void log1p(OpBuilder& b) { b.bind(log_of_one_plus(b, input(b))); }

void log2(OpBuilder& b) { b.bind(with_number(b, "Div", b.unary("Log", input(b)), std::numbers::ln2)); }

void log10(OpBuilder& b) { b.bind(with_number(b, "Div", b.unary("Log", input(b)), std::numbers::ln10)); }

void tan(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.dtype != DType::kFloat64) return b.bind(b.unary("Tan", x));
  b.bind(b.binary("Div", b.unary("Sin", x), b.unary("Cos", x)));
}

void deg2rad(OpBuilder& b) { b.bind(with_number(b, "Mul", input(b), std::numbers::pi / 180)); }

void rad2deg(OpBuilder& b) { b.bind(with_number(b, "Mul", input(b), 180 / std::numbers::pi)); }

void sinc(OpBuilder& b) {
  const Tensor x = with_number(b, "Mul", input(b), std::numbers::pi);
  const Tensor ratio = b.binary("Div", b.unary("Sin", x), x);
  b.bind(b.where(compare_number(b, "Equal", x, 0), b.constant(1.0, x.dtype), ratio));
}

void logit(OpBuilder& b) {
  Tensor x = input(b);
  if (b.has("eps")) {
    const double eps = b.number("eps");
    x = b.clip(x, b.constant(eps, x.dtype), b.constant(1 - eps, x.dtype));
  }
  b.bind(b.unary("Log", b.binary("Div", x, number_with(b, "Sub", 1, x))));
}

void entropy(OpBuilder& b) {
  const Tensor x = input(b);
  const Tensor plain = b.unary("Neg", b.binary("Mul", x, b.unary("Log", x)));
  const Tensor zero = b.where(compare_number(b, "Equal", x, 0), b.constant(0.0, x.dtype), plain);
  b.bind(b.where(compare_number(b, "Less", x, 0), b.constant(-kInf, x.dtype), zero));
}

void nan_to_num(OpBuilder& b) {
  const Tensor x = input(b);
  if (!is_floating(x.dtype)) return b.bind(x);
  const double high = b.has("posinf") ? b.number("posinf") : highest_of(x.dtype);
  const double low = b.has("neginf") ? b.number("neginf") : lowest_of(x.dtype);
  Tensor y = b.where(is_nan(b, x), b.constant(b.has("nan") ? b.number("nan") : 0.0, x.dtype), x);
  y = b.where(compare_number(b, "Equal", x, kInf), b.constant(high, x.dtype), y);
  b.bind(b.where(compare_number(b, "Equal", x, -kInf), b.constant(low, x.dtype), y));
}

void angle(OpBuilder& b) {
  const Tensor x = input(b);
  const Tensor plain =
      b.where(compare_number(b, "Less", x, 0), b.constant(std::numbers::pi, x.dtype), b.constant(0.0, x.dtype));
  b.bind(is_floating(x.dtype) ? b.where(is_nan(b, x), x, plain) : plain);
}

void bitwise_not(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.dtype == DType::kBool) return b.bind(b.logical_not(x));
  if (b.opset() >= 18) return b.bind(b.unary("BitwiseNot", x));
  // -1 - x, in two's complement.
  b.bind(number_with(b, "Sub", -1, x));
}

constexpr std::array kElementwiseOps = {
    EmitEntry{"aten::abs", absolute},
    EmitEntry{"aten::absolute", absolute},
    EmitEntry{"aten::acos", unary_or<arc_cosine>, "Acos"},
    EmitEntry{"aten::arccos", unary_or<arc_cosine>, "Acos"},
    EmitEntry{"aten::acosh", unary_or<acosh>, "Acosh"},
    EmitEntry{"aten::arccosh", unary_or<acosh>, "Acosh"},
    EmitEntry{"aten::angle", angle},
    EmitEntry{"aten::asin", unary_or<arc_sine>, "Asin"},
    EmitEntry{"aten::arcsin", unary_or<arc_sine>, "Asin"},
    EmitEntry{"aten::asinh", unary_or<asinh>, "Asinh"},
    EmitEntry{"aten::arcsinh", unary_or<asinh>, "Asinh"},
    EmitEntry{"aten::atan", unary_or<arc_tangent>, "Atan"},
    EmitEntry{"aten::arctan", unary_or<arc_tangent>, "Atan"},
    EmitEntry{"aten::atanh", unary_or<area_tangent>, "Atanh"},
    EmitEntry{"aten::arctanh", unary_or<area_tangent>, "Atanh"},
    EmitEntry{"aten::bitwise_not", bitwise_not},
    EmitEntry{"aten::ceil", rounding, "Ceil"},
    EmitEntry{"aten::cos", unary, "Cos"},
    EmitEntry{"aten::cosh", unary_or<hyperbolic_cosine>, "Cosh"},
    EmitEntry{"aten::deg2rad", deg2rad},
    EmitEntry{"aten::exp", unary, "Exp"},
    EmitEntry{"aten::exp2", exp2},
    EmitEntry{"aten::expm1", expm1},
    EmitEntry{"aten::fix", trunc},
    EmitEntry{"aten::floor", rounding, "Floor"},
    EmitEntry{"aten::frac", frac},
    EmitEntry{"aten::log", unary, "Log"},
    EmitEntry{"aten::log10", log10},
    EmitEntry{"aten::log1p", log1p},
    EmitEntry{"aten::log2", log2},
    EmitEntry{"aten::logit", logit},
    EmitEntry{"aten::nan_to_num", nan_to_num},
    EmitEntry{"aten::neg", unary, "Neg"},
    EmitEntry{"aten::negative", unary, "Neg"},
    EmitEntry{"aten::positive", positive},
    EmitEntry{"aten::rad2deg", rad2deg},
    EmitEntry{"aten::reciprocal", unary, "Reciprocal"},
    EmitEntry{"aten::round", rounding, "Round"},
    EmitEntry{"aten::round.decimals", round_decimals},
    EmitEntry{"aten::rsqrt", rsqrt},
    EmitEntry{"aten::sgn", sign},
    EmitEntry{"aten::sign", sign},
    EmitEntry{"aten::sin", unary, "Sin"},
    EmitEntry{"aten::sinc", sinc},
    EmitEntry{"aten::sinh", unary_or<hyperbolic_sine>, "Sinh"},
    EmitEntry{"aten::special_entr", entropy},
    EmitEntry{"aten::special_exp2", exp2},
    EmitEntry{"aten::special_expm1", expm1},
    EmitEntry{"aten::special_log1p", log1p},
    EmitEntry{"aten::special_logit", logit},
    EmitEntry{"aten::special_round", rounding, "Round"},
    EmitEntry{"aten::special_sinc", sinc},
    EmitEntry{"aten::sqrt", unary, "Sqrt"},
    EmitEntry{"aten::square", square},
    EmitEntry{"aten::tan", tan},
    EmitEntry{"aten::trunc", trunc},
};

}  // namespace

EmitEntries elementwise_ops() { return kElementwiseOps; }

}  // namespace leapp::onnx_ops
