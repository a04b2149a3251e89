// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/special/special.h"

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {

Tensor special_argument(OpBuilder& b, std::string_view name) {
  return b.cast(b.operand(name, b.result().dtype), DType::kFloat64);
}

void bind_special(OpBuilder& b, const Tensor& value) { b.bind(b.cast(value, b.result().dtype)); }

Tensor numbers(OpBuilder& b, const Numbers& values) {
  return b.constant(std::vector<Scalar>(values.begin(), values.end()), {DType::kFloat64, {std::ssize(values)}});
}

Tensor with_nodes(OpBuilder& b, const Tensor& x) { return b.unsqueeze(x, {-1}); }

Tensor weighted_sum(OpBuilder& b, const Tensor& terms, const Numbers& weights) {
  return b.matmul(terms, numbers(b, weights));
}

Tensor polynomial(OpBuilder& b, const Tensor& x, const Numbers& coefficients) {
  Numbers exponents;
  for (std::size_t k = 0; k < coefficients.size(); ++k) exponents.push_back(static_cast<double>(k));
  return weighted_sum(b, b.binary("Pow", with_nodes(b, x), numbers(b, exponents)), coefficients);
}

Tensor running_products(OpBuilder& b, const Tensor& terms) {
  const Tensor last = b.constant(std::int64_t{-1}, DType::kInt64);
  return b.unary("Exp", b.add("CumSum", {b.unary("Log", terms), last}, terms.type()));
}

Trapezoid trapezoid(double step, double end) {
  Trapezoid rule;
  for (int i = 0; step * i <= end; ++i) {
    rule.nodes.push_back(step * i);
    rule.weights.push_back(i == 0 ? step : 2 * step);
  }
  return rule;
}

Tensor piecewise(OpBuilder& b, const std::vector<Piece>& pieces, const Tensor& otherwise) {
  Tensor value = otherwise;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
    value = b.where(piece->where, piece->value, value);
  return value;
}

Tensor number(OpBuilder& b, double value) { return b.constant(value, DType::kFloat64); }

Tensor negated(OpBuilder& b, const Tensor& x) { return b.unary("Neg", x); }

Tensor is_whole(OpBuilder& b, const Tensor& x) { return b.compare("Equal", x, b.unary("Floor", x)); }

Tensor is_even(OpBuilder& b, const Tensor& whole) { return is_whole(b, with_number(b, "Mul", whole, 0.5)); }

Tensor from_nearest(OpBuilder& b, const Tensor& x) { return b.binary("Sub", x, b.unary("Round", x)); }

}  // namespace leapp::onnx_ops
