// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/pointwise/elementary.h"

#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

using std::numbers::pi;

Tensor halved(OpBuilder& b, const Tensor& x) { return with_number(b, "Mul", x, 0.5); }

Tensor odd(OpBuilder& b, const Tensor& x, const Tensor& of_size) {
  return b.where(compare_number(b, "Less", x, 0), negated(b, of_size), of_size);
}

/// sqrt(x^2 + sign), without overflow of what is finite.
Tensor hypotenuse(OpBuilder& b, const Tensor& x, double sign) {
  return b.unary("Sqrt", with_number(b, "Add", b.binary("Mul", x, x), sign));
}

/// Beyond this, x^2 + 1 is x^2.
constexpr double kLarge = 1e9;

}  // namespace

Tensor hyperbolic_cosine(OpBuilder& b, const Tensor& x) {
  // In halves, for e^x overflows before its half.
  const Tensor growth = b.unary("Exp", halved(b, b.unary("Abs", x)));
  const Tensor decay = b.unary("Exp", negated(b, b.unary("Abs", x)));
  return b.binary("Add", b.binary("Mul", growth, halved(b, growth)), halved(b, decay));
}

Tensor hyperbolic_sine(OpBuilder& b, const Tensor& x) {
  const Tensor size = b.unary("Abs", x);
  const Tensor growth = b.unary("Exp", halved(b, size));
  const Tensor large = b.binary("Mul", growth, halved(b, growth));
  const Tensor rise = exp_minus_one(b, b.binary("Min", size, number(b, 30)));
  const Tensor small = halved(b, b.binary("Add", rise, b.binary("Div", rise, with_number(b, "Add", rise, 1))));
  return odd(b, x, b.where(compare_number(b, "Greater", size, 25), large, small));
}

Tensor asinh(OpBuilder& b, const Tensor& x) {
  const Tensor size = b.unary("Abs", x);
  const Tensor root = with_number(b, "Add", hypotenuse(b, size, 1), 1);
  const Tensor more = b.binary("Div", b.binary("Mul", size, size), root);
  const Tensor far = with_number(b, "Add", b.unary("Log", size), std::numbers::ln2);
  const Tensor near = log_of_one_plus(b, b.binary("Add", size, more));
  return odd(b, x, b.where(compare_number(b, "Greater", size, kLarge), far, near));
}

Tensor acosh(OpBuilder& b, const Tensor& x) {
  const Tensor above = with_number(b, "Sub", x, 1);
  const Tensor root = b.unary("Sqrt", b.binary("Mul", above, with_number(b, "Add", above, 2)));
  const Tensor far = with_number(b, "Add", b.unary("Log", x), std::numbers::ln2);
  const Tensor near = log_of_one_plus(b, b.binary("Add", above, root));
  return piecewise(
      b, {{compare_number(b, "Less", x, 1), number(b, kNotANumber)}, {compare_number(b, "Greater", x, kLarge), far}},
      near);
}

Tensor area_tangent(OpBuilder& b, const Tensor& x) {
  const Tensor size = b.unary("Abs", x);
  const Tensor ratio = b.binary("Div", with_number(b, "Mul", size, 2), number_with(b, "Sub", 1, size));
  const Tensor regular = halved(b, log_of_one_plus(b, ratio));
  const Tensor end = compare_number(b, "Equal", size, 1);
  return odd(b, x, b.where(end, number(b, kInfinity), regular));
}

Tensor arc_sine(OpBuilder& b, const Tensor& x) {
  const Tensor cosine = b.unary("Sqrt", b.binary("Mul", number_with(b, "Sub", 1, x), with_number(b, "Add", x, 1)));
  return with_number(b, "Mul", arc_tangent(b, b.binary("Div", x, with_number(b, "Add", cosine, 1))), 2);
}

/// From a float32 angle t: the rest is the arc tangent of (y - tan t) / (1 + y tan t), which is small.
Tensor arc_tangent(OpBuilder& b, const Tensor& x) {
  if (x.dtype != DType::kFloat64) return b.unary("Atan", x);
  const Tensor size = b.unary("Abs", x);
  const Tensor steep = compare_number(b, "Greater", size, 1);
  const Tensor y = b.where(steep, b.unary("Reciprocal", size), size);
  const Tensor angle = b.cast(b.unary("Atan", b.cast(y, DType::kFloat32)), DType::kFloat64);
  const Tensor sine = b.unary("Sin", angle);
  const Tensor cosine = b.unary("Cos", angle);
  const Tensor rest = b.binary("Div", b.binary("Sub", b.binary("Mul", y, cosine), sine),
                               b.binary("Add", b.binary("Mul", y, sine), cosine));
  const Tensor flat = b.binary("Add", angle, rest);
  return odd(b, x, b.where(steep, number_with(b, "Sub", pi / 2, flat), flat));
}

Tensor arc_cosine(OpBuilder& b, const Tensor& x) {
  const Tensor ratio = b.binary("Div", number_with(b, "Sub", 1, x), with_number(b, "Add", x, 1));
  return with_number(b, "Mul", arc_tangent(b, b.unary("Sqrt", ratio)), 2);
}

}  // namespace leapp::onnx_ops
