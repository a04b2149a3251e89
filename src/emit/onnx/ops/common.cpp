// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/common.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace leapp::onnx_ops {

Tensor with_number(OpBuilder& b, const std::string& op, const Tensor& x, double number) {
  return b.binary(op, x, b.constant(number, x.dtype));
}

Tensor number_with(OpBuilder& b, const std::string& op, double number, const Tensor& x) {
  return b.binary(op, b.constant(number, x.dtype), x);
}

Tensor compare_number(OpBuilder& b, const std::string& op, const Tensor& x, double number) {
  return b.compare(op, x, b.constant(number, x.dtype));
}

Tensor is_nan(OpBuilder& b, const Tensor& x) {
  if (!is_floating(x.dtype)) return b.full(false, {DType::kBool, x.shape});
  return b.add("IsNaN", {x}, {DType::kBool, x.shape});
}

Tensor is_inf(OpBuilder& b, const Tensor& x) {
  if (!is_floating(x.dtype)) return b.full(false, {DType::kBool, x.shape});
  return b.add("IsInf", {x}, {DType::kBool, x.shape});
}

Tensor sign_bit(OpBuilder& b, const Tensor& x) {
  const Tensor negative = compare_number(b, "Less", x, 0);
  if (!is_floating(x.dtype)) return negative;
  // Only the reciprocal tells a negative zero.
  return b.binary("Or", negative, compare_number(b, "Less", b.unary("Reciprocal", x), 0));
}

Tensor truncate(OpBuilder& b, const Tensor& x) {
  if (!is_floating(x.dtype)) return x;
  return b.where(compare_number(b, "Less", x, 0), b.unary("Ceil", x), b.unary("Floor", x));
}

Tensor log_of_one_plus(OpBuilder& b, const Tensor& x) {
  // log(u) x / (u - 1) with u = 1 + x rounded: the rounding cancels.
  const Tensor sum = with_number(b, "Add", x, 1);
  const Tensor kept = with_number(b, "Sub", sum, 1);
  const Tensor ratio = b.where(b.compare("Equal", kept, x), b.constant(1.0, x.dtype), b.binary("Div", x, kept));
  const Tensor scaled = b.binary("Mul", b.unary("Log", sum), ratio);
  return b.where(compare_number(b, "Equal", kept, 0), x, scaled);
}

Tensor exp_minus_one(OpBuilder& b, const Tensor& x) {
  // tanh(x/2) (e^x + 1): no difference of nearly equal numbers.
  const Tensor half = b.unary("Tanh", with_number(b, "Mul", x, 0.5));
  return b.binary("Mul", half, with_number(b, "Add", b.unary("Exp", x), 1));
}

Tensor reduce_loss(OpBuilder& b, const Tensor& loss, std::int64_t reduction) {
  if (reduction == 0) return loss;
  return b.reduce(reduction == 1 ? "ReduceMean" : "ReduceSum", loss, {}, false);
}

Tensor vector_norm(OpBuilder& b, const Tensor& x, const NormOptions& options) {
  const double p = options.order;
  if (p == 1) return b.reduce("ReduceL1", x, options.dims, options.keepdim);
  if (p == 2) return b.reduce("ReduceL2", x, options.dims, options.keepdim);
  const Tensor size = b.unary("Abs", x);
  if (std::isinf(p)) return b.reduce(p > 0 ? "ReduceMax" : "ReduceMin", size, options.dims, options.keepdim);
  if (p == 0) {
    const Tensor nonzero = b.cast(b.logical_not(compare_number(b, "Equal", x, 0)), x.dtype);
    return b.reduce("ReduceSum", nonzero, options.dims, options.keepdim);
  }
  const Tensor powers = b.reduce("ReduceSum", with_number(b, "Pow", size, p), options.dims, options.keepdim);
  return with_number(b, "Pow", powers, 1 / p);
}

Tensor triangle_mask(OpBuilder& b, std::int64_t rows, std::int64_t columns, std::int64_t diagonal, bool upper) {
  const Tensor row = b.ints(iota(rows), {rows, 1});
  Ints shifted = iota(columns);
  for (std::int64_t& column : shifted) column -= diagonal;
  const Tensor column = b.ints(shifted, {1, columns});
  return b.compare(upper ? "GreaterOrEqual" : "LessOrEqual", column, row);
}

Tensor take_diagonal(OpBuilder& b, const Tensor& x, const DiagonalOptions& options) {
  const std::int64_t first = wrap_dim(options.first, x.rank());
  const std::int64_t second = wrap_dim(options.second, x.rank());
  const std::int64_t rows = x.size(first);
  const std::int64_t columns = x.size(second);
  Ints order;
  Shape shape;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (i != first && i != second) {
      order.push_back(i);
      shape.push_back(x.size(i));
    }
  }
  order.push_back(first);
  order.push_back(second);
  shape.push_back(rows * columns);
  const std::int64_t row = std::max<std::int64_t>(0, -options.offset);
  const std::int64_t column = std::max<std::int64_t>(0, options.offset);
  Ints positions;
  for (std::int64_t i = 0; row + i < rows && column + i < columns; ++i) {
    positions.push_back((row + i) * columns + column + i);
  }
  return b.gather(b.reshape(b.transpose(x, order), shape), b.ints(positions), -1);
}

Tensor put_diagonal(OpBuilder& b, const Tensor& x, const DiagonalOptions& options) {
  const std::int64_t count = x.size(-1);
  const std::int64_t size = count + std::abs(options.offset);
  // Every row of the square takes one element of the diagonal, padded at the end or at the start.
  const std::int64_t rank = x.rank() + 1;
  Ints before(static_cast<std::size_t>(x.rank()), 0);
  Ints after = before;
  before.back() = options.offset < 0 ? -options.offset : 0;
  after.back() = options.offset > 0 ? options.offset : 0;
  const Tensor padded = b.pad(x, before, after, "constant", std::int64_t{0});
  const Tensor row = b.ints(iota(size), {size, 1});
  Ints shifted = iota(size);
  for (std::int64_t& column : shifted) column -= options.offset;
  const Tensor mask = b.compare("Equal", row, b.ints(shifted, {1, size}));
  const Tensor square = b.where(mask, b.unsqueeze(padded, {-1}), b.constant(std::int64_t{0}, x.dtype));
  const std::int64_t first = wrap_dim(options.first, rank);
  const std::int64_t second = wrap_dim(options.second, rank);
  Ints order(static_cast<std::size_t>(rank), -1);
  order[static_cast<std::size_t>(first)] = rank - 2;
  order[static_cast<std::size_t>(second)] = rank - 1;
  std::int64_t next = 0;
  for (std::int64_t& place : order) {
    if (place < 0) place = next++;
  }
  return b.transpose(square, order);
}

}  // namespace leapp::onnx_ops
