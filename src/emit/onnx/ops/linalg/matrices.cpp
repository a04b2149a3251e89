// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/linalg/matrices.h"

#include <algorithm>

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// Swaps row k with the row at or below it that has the largest element in column k; that row's number as [batch, 1,
/// 1].
struct Pivoted {
  Tensor matrix;
  Tensor row;
  Tensor from;
};

Pivoted with_pivot(OpBuilder& b, const Tensor& m, const Tensor& k) {
  const Tensor numbers = row_numbers(b, m);
  const Tensor sizes = b.unary("Abs", column_at(b, m, k));
  const Tensor below = b.where(b.compare("GreaterOrEqual", numbers, k), sizes, b.constant(-1.0, m.dtype));
  const Tensor from = b.arg_reduce("ArgMax", below, -2, true);
  const Tensor old_row = row_at(b, m, k);
  const Tensor new_row = b.gather_elements(m, b.expand(from, old_row.shape), -2);
  const Tensor moved = b.where(b.compare("Equal", numbers, from), old_row, m);
  return {b.where(b.compare("Equal", numbers, k), new_row, moved), new_row, from};
}

}  // namespace

Tensor transposed(OpBuilder& b, const Tensor& m) { return b.swap_dims(m, -2, -1); }

Shape batch_of(const Tensor& m) { return {m.shape.begin(), m.shape.end() - 2}; }

Tensor with_batch(OpBuilder& b, const Tensor& m, Shape batch) {
  batch.push_back(m.size(-2));
  batch.push_back(m.size(-1));
  return b.expand(m, batch);
}

Tensor identity(OpBuilder& b, const TensorType& type) {
  const std::int64_t columns = type.shape.back();
  const std::int64_t rows = type.shape[type.shape.size() - 2];
  const Tensor eye = b.compare("Equal", b.ints(iota(rows), {rows, 1}), b.ints(iota(columns), {1, columns}));
  return b.expand(b.cast(eye, type.dtype), type.shape);
}

Tensor identity_like(OpBuilder& b, const Tensor& m) { return identity(b, m.type()); }

Tensor lower_part(OpBuilder& b, const Tensor& m, std::int64_t diagonal) {
  return b.where(triangle_mask(b, m.size(-2), m.size(-1), diagonal, false), m, zero(b, m));
}

Tensor upper_part(OpBuilder& b, const Tensor& m, std::int64_t diagonal) {
  return b.where(triangle_mask(b, m.size(-2), m.size(-1), diagonal, true), m, zero(b, m));
}

Tensor symmetric_from(OpBuilder& b, const Tensor& m, bool upper) {
  return b.where(triangle_mask(b, m.size(-2), m.size(-1), 0, upper), m, transposed(b, m));
}

Tensor row_at(OpBuilder& b, const Tensor& m, const Tensor& k) { return b.gather(m, k, -2); }
Tensor column_at(OpBuilder& b, const Tensor& m, const Tensor& k) { return b.gather(m, k, -1); }
Tensor row_numbers(OpBuilder& b, const Tensor& m) { return b.ints(iota(m.size(-2)), {m.size(-2), 1}); }
Tensor column_numbers(OpBuilder& b, const Tensor& m) { return b.ints(iota(m.size(-1)), {1, m.size(-1)}); }

LuFactors lu_factors(OpBuilder& b, const Tensor& a) {
  const std::int64_t steps = std::min(a.size(-2), a.size(-1));
  Shape pivot_shape = batch_of(a);
  pivot_shape.push_back(1);
  pivot_shape.push_back(steps);
  const Tensor rows = row_numbers(b, a);
  const Tensor columns = column_numbers(b, a);
  const Tensor numbers = b.ints(iota(steps));
  const auto step = [&](const Tensor& k, const Tensors& state) -> Tensors {
    const Pivoted next = with_pivot(b, state[0], k);
    const Tensor pivot = column_at(b, next.row, k);
    // A zero has only zeros below it.
    const Tensor divisor = b.where(compare_number(b, "Equal", pivot, 0), b.constant(1.0, a.dtype), pivot);
    const Tensor below = b.compare("Greater", rows, k);
    const Tensor factor = b.where(below, b.binary("Div", column_at(b, next.matrix, k), divisor), zero(b, a));
    const Tensor rest = b.binary("Sub", next.matrix, b.binary("Mul", factor, next.row));
    const Tensor kept = b.where(b.binary("And", b.compare("Equal", columns, k), below), factor, next.matrix);
    const Tensor matrix = b.where(b.compare("Greater", columns, k), rest, kept);
    return {matrix, b.where(b.compare("Equal", numbers, k), next.from, state[1])};
  };
  const Tensors found = b.repeat(steps, {a, b.full(std::int64_t{0}, {DType::kInt64, pivot_shape})}, step);
  return {found[0], b.squeeze(found[1], {-2})};
}

Tensor first_true(OpBuilder& b, const Tensor& mask) {
  if (mask.size(-1) == 0) return b.full(std::int64_t{0}, {DType::kInt32, {mask.shape.begin(), mask.shape.end() - 1}});
  const Tensor ones = b.cast(mask, DType::kInt32);
  const Tensor first = b.cast(b.arg_reduce("ArgMax", ones, -1, false), DType::kInt32);
  const Tensor any = b.reduce("ReduceMax", ones, {-1}, false);
  return b.binary("Mul", any, b.binary("Add", first, b.constant(std::int64_t{1}, DType::kInt32)));
}

Tensor first_zero_pivot(OpBuilder& b, const Tensor& packed) {
  return first_true(b, compare_number(b, "Equal", take_diagonal(b, packed, {0, -2, -1}), 0));
}

Tensor row_order(OpBuilder& b, const Tensor& pivots, std::int64_t rows) {
  Shape shape = pivots.shape;
  shape.back() = rows;
  const Tensor numbers = b.ints(iota(rows));
  const auto step = [&](const Tensor& k, const Tensors& state) -> Tensors {
    const Tensor other = b.gather(pivots, k, -1);
    const Tensor here = b.gather(state[0], k, -1);
    const Tensor there = b.gather_elements(state[0], other, -1);
    const Tensor moved = b.where(b.compare("Equal", numbers, other), here, state[0]);
    return {b.where(b.compare("Equal", numbers, k), there, moved)};
  };
  return b.repeat(pivots.size(-1), {b.expand(numbers, shape)}, step)[0];
}

Tensor permutation(OpBuilder& b, const Tensor& order, DType dtype) {
  const std::int64_t size = order.size(-1);
  return b.cast(b.compare("Equal", b.ints(iota(size), {size, 1}), b.unsqueeze(order, {-2})), dtype);
}

Tensor with_rows_in(OpBuilder& b, const Tensor& m, const Tensor& order) {
  return b.gather_elements(m, b.expand(b.unsqueeze(order, {-1}), m.shape), -2);
}

Tensor triangle_solved(OpBuilder& b, const Tensor& a, const Tensor& right, const Triangle& triangle) {
  const std::int64_t size = a.size(-1);
  const Tensor rows = row_numbers(b, right);
  const auto step = [&](const Tensor& round, const Tensors& state) -> Tensors {
    const Tensor i = triangle.upper ? b.binary("Sub", b.ints({size - 1}), round) : round;
    Tensor found = row_at(b, state[0], i);
    if (!triangle.unit) found = b.binary("Div", found, column_at(b, row_at(b, a, i), i));
    const Tensor rest = b.binary("Sub", state[0], b.binary("Mul", column_at(b, a, i), found));
    const Tensor open = b.compare(triangle.upper ? "Less" : "Greater", rows, i);
    return {b.where(b.compare("Equal", rows, i), found, b.where(open, rest, state[0]))};
  };
  return b.repeat(size, {right}, step)[0];
}

Tensor solved(OpBuilder& b, const Tensor& a, const Tensor& right) {
  const std::int64_t size = a.size(-1);
  const auto step = [&](const Tensor& k, const Tensors& state) -> Tensors {
    const Pivoted next = with_pivot(b, state[0], k);
    const Tensor scaled = b.binary("Div", next.row, column_at(b, next.row, k));
    const Tensor rest = b.binary("Sub", next.matrix, b.binary("Mul", column_at(b, next.matrix, k), scaled));
    return {b.where(b.compare("Equal", row_numbers(b, rest), k), scaled, rest)};
  };
  const Tensor reduced = b.repeat(size, {b.concat({a, right}, -1)}, step)[0];
  return b.slice(reduced, -1, size, reduced.size(-1));
}

Tensor inverse_of(OpBuilder& b, const Tensor& a) { return solved(b, a, identity_like(b, a)); }

Tensor lower_cholesky(OpBuilder& b, const Tensor& a) {
  const Tensor rows = row_numbers(b, a);
  const Tensor columns = column_numbers(b, a);
  const auto step = [&](const Tensor& k, const Tensors& state) -> Tensors {
    const Tensor current = column_at(b, state[0], k);
    const Tensor scaled = b.binary("Div", current, b.unary("Sqrt", row_at(b, current, k)));
    const Tensor column = b.where(b.compare("GreaterOrEqual", rows, k), scaled, zero(b, a));
    const Tensor rest = b.binary("Sub", state[0], b.binary("Mul", column, transposed(b, column)));
    const Tensor kept = b.where(b.compare("Equal", columns, k), column, state[0]);
    return {b.where(b.compare("Greater", columns, k), rest, kept)};
  };
  // What is left above the diagonal was never looked at.
  return lower_part(b, b.repeat(a.size(-1), {a}, step)[0]);
}

}  // namespace leapp::onnx_ops
