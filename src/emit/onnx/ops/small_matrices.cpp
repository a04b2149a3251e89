// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// ONNX has no solvers. For the small matrices of kinematics and filters the algorithms are written out, step by step.
#include "emit/onnx/ops/small_matrices.h"

#include <algorithm>
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

bool small_enough(OpBuilder& b, const Tensor& a) {
  constexpr std::int64_t kLargest = 16;
  if (a.size(-1) <= kLargest) return true;
  b.refuse("ONNX has no solver, and matrices above 16 x 16 are not written out");
  return false;
}

Tensor column(OpBuilder& b, const Tensor& m, std::int64_t k) { return b.slice(m, -1, k, k + 1); }
Tensor row(OpBuilder& b, const Tensor& m, std::int64_t k) { return b.slice(m, -2, k, k + 1); }

/// Row numbers as a column.
Tensor row_numbers(OpBuilder& b, const Tensor& m) { return b.ints(iota(m.size(-2)), {m.size(-2), 1}); }

Tensor is_row(OpBuilder& b, const Tensor& m, std::int64_t k) {
  return b.compare("Equal", row_numbers(b, m), b.constant(k, DType::kInt64));
}

Shape batch_of(const Tensor& m) { return {m.shape.begin(), m.shape.end() - 2}; }

Tensor with_batch(OpBuilder& b, const Tensor& m, Shape batch) {
  batch.push_back(m.size(-2));
  batch.push_back(m.size(-1));
  return b.expand(m, batch);
}

Tensor transposed(OpBuilder& b, const Tensor& m) { return b.swap_dims(m, -2, -1); }

Tensor identity_like(OpBuilder& b, const Tensor& a) {
  const std::int64_t size = a.size(-1);
  const Tensor eye = b.compare("Equal", b.ints(iota(size), {size, 1}), b.ints(iota(size), {1, size}));
  return b.expand(b.cast(eye, a.dtype), a.shape);
}

/// Swaps row k with the row below that has the largest element in column k.
Tensor with_pivot(OpBuilder& b, const Tensor& m, std::int64_t k) {
  const Tensor below = b.slice(b.unary("Abs", column(b, m, k)), -2, k, m.size(-2));
  const Tensor pivot = b.binary("Add", b.arg_reduce("ArgMax", below, -2, true), b.constant(k, DType::kInt64));
  const Tensor old_row = row(b, m, k);
  const Tensor new_row = b.gather_elements(m, b.expand(pivot, old_row.shape), -2);
  const Tensor moved = b.where(b.compare("Equal", row_numbers(b, m), pivot), old_row, m);
  return b.where(is_row(b, m, k), new_row, moved);
}

/// X of A X = B, by Gauss-Jordan elimination with row pivots.
Tensor solved(OpBuilder& b, const Tensor& a, const Tensor& right) {
  const std::int64_t size = a.size(-1);
  Tensor m = b.concat({a, right}, -1);
  for (std::int64_t k = 0; k < size; ++k) {
    if (k + 1 < size) m = with_pivot(b, m, k);
    const Tensor pivot_row = row(b, m, k);
    const Tensor scaled = b.binary("Div", pivot_row, column(b, pivot_row, k));
    const Tensor rest = b.binary("Sub", m, b.binary("Mul", column(b, m, k), scaled));
    m = b.where(is_row(b, m, k), scaled, rest);
  }
  return b.slice(m, -1, size, m.size(-1));
}

struct Triangle {
  bool upper = false;
  bool unit = false;  // ones on the diagonal, whatever stands there
};

/// X of A X = B where A is a triangle: one row after the other.
Tensor substituted(OpBuilder& b, const Tensor& a, const Tensor& right, const Triangle& triangle) {
  const std::int64_t size = a.size(-1);
  Tensors rows(static_cast<std::size_t>(size));
  Tensor rest = right;
  for (std::int64_t step = 0; step < size; ++step) {
    const std::int64_t i = triangle.upper ? size - 1 - step : step;
    Tensor found = row(b, rest, i);
    if (!triangle.unit) found = b.binary("Div", found, column(b, row(b, a, i), i));
    rows[static_cast<std::size_t>(i)] = found;
    if (step + 1 < size) rest = b.binary("Sub", rest, b.binary("Mul", column(b, a, i), found));
  }
  return b.concat(rows, -2);
}

/// L of A = L L^T; reads the lower triangle.
Tensor lower_cholesky(OpBuilder& b, const Tensor& a) {
  Tensors columns;
  Tensor rest = a;
  for (std::int64_t k = 0; k < a.size(-1); ++k) {
    const Tensor current = column(b, rest, k);
    const Tensor scaled = b.binary("Div", current, b.unary("Sqrt", row(b, current, k)));
    const Tensor below = b.compare("GreaterOrEqual", row_numbers(b, a), b.constant(k, DType::kInt64));
    columns.push_back(b.where(below, scaled, b.constant(0.0, a.dtype)));
    rest = b.binary("Sub", rest, b.binary("Mul", columns.back(), transposed(b, columns.back())));
  }
  return b.concat(columns, -1);
}

bool info_is_used(OpBuilder& b, std::size_t index) {
  if (b.node().result(index)->unused()) return false;
  b.refuse("ONNX cannot tell whether a matrix is singular");
  return true;
}

void inverse(OpBuilder& b) {
  const Tensor a = b.tensor(b.has("A") ? "A" : "self");
  if (b.result_count() > 1 && info_is_used(b, 1)) return;
  b.bind(inverse_of(b, a));
}

/// linalg.solve with a right side that is a matrix, or a vector for each matrix.
void solve(OpBuilder& b) {
  const Tensor a = b.tensor("A");
  Tensor right = b.tensor("B");
  if (!small_enough(b, a) || (b.result_count() > 1 && info_is_used(b, 1))) return;
  const bool vector =
      right.rank() == 1 || (right.rank() + 1 == a.rank() && right.shape == Shape(a.shape.begin(), a.shape.end() - 1));
  if (vector) right = b.unsqueeze(right, {-1});
  const bool left = b.flag("left");
  const Tensor matrix = left ? a : transposed(b, a);
  const Tensor side = left || vector ? right : transposed(b, right);
  const Shape batch = broadcast_shapes(batch_of(matrix), batch_of(side));
  Tensor x = solved(b, with_batch(b, matrix, batch), with_batch(b, side, batch));
  if (!left && !vector) x = transposed(b, x);
  b.bind(b.reshape(x, b.result().shape));
}

void cholesky(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  if (!small_enough(b, a) || (b.result_count() > 1 && info_is_used(b, 1))) return;
  const bool upper = b.flag("upper");
  const Tensor lower = lower_cholesky(b, upper ? transposed(b, a) : a);
  b.bind(upper ? transposed(b, lower) : lower);
}

void solve_triangular(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  const Tensor right = b.tensor("B");
  if (!small_enough(b, a)) return;
  const bool left = b.flag("left");
  const bool upper = b.flag("upper");
  const Tensor matrix = left ? a : transposed(b, a);
  const Tensor side = left ? right : transposed(b, right);
  const Shape batch = broadcast_shapes(batch_of(matrix), batch_of(side));
  const Tensor x = substituted(b, with_batch(b, matrix, batch), with_batch(b, side, batch),
                               {left ? upper : !upper, b.flag("unitriangular")});
  b.bind(left ? x : transposed(b, x));
}

void old_triangular_solve(OpBuilder& b) {
  const Tensor right = b.tensor("self");
  const Tensor a = b.tensor("A");
  if (!small_enough(b, a)) return;
  const bool flipped = b.flag("transpose");
  const Shape batch = broadcast_shapes(batch_of(a), batch_of(right));
  const Tensor matrix = with_batch(b, flipped ? transposed(b, a) : a, batch);
  const bool upper = b.flag("upper") != flipped;
  b.bind(0, substituted(b, matrix, with_batch(b, right, batch), {upper, b.flag("unitriangular")}));
  if (b.result_count() > 1) b.bind(1, with_batch(b, a, batch));
}

/// X of L L^T X = B.
Tensor cholesky_solved(OpBuilder& b, const Tensor& factor, const Tensor& right) {
  const Tensor lower = b.flag("upper") ? transposed(b, factor) : factor;
  const Tensor half = substituted(b, lower, right, {false, false});
  return substituted(b, transposed(b, lower), half, {true, false});
}

void cholesky_solve(OpBuilder& b) {
  const Tensor right = b.tensor("self");
  const Tensor factor = b.tensor("input2");
  if (!small_enough(b, factor)) return;
  const Shape batch = broadcast_shapes(batch_of(factor), batch_of(right));
  b.bind(cholesky_solved(b, with_batch(b, factor, batch), with_batch(b, right, batch)));
}

void cholesky_inverse(OpBuilder& b) {
  const Tensor factor = b.tensor("self");
  if (small_enough(b, factor)) b.bind(cholesky_solved(b, factor, identity_like(b, factor)));
}

void tensor_inverse(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  std::int64_t size = 1;
  for (std::int64_t i = 0; i < b.integer("ind"); ++i) size *= a.size(i);
  b.bind(b.reshape(inverse_of(b, b.reshape(a, {size, size})), b.result().shape));
}

void tensor_solve(OpBuilder& b) {
  Tensor a = b.tensor("self");
  const Tensor right = b.tensor("other");
  if (b.has("dims")) {
    Ints order = iota(a.rank());
    for (const std::int64_t dim : b.integers("dims")) {
      const std::int64_t moved = wrap_dim(dim, a.rank());
      order.erase(std::find(order.begin(), order.end(), moved));
      order.push_back(moved);
    }
    a = b.transpose(a, order);
  }
  const std::int64_t size = right.elements();
  const Tensor matrix = b.reshape(a, {size, size});
  if (!small_enough(b, matrix)) return;
  b.bind(b.reshape(solved(b, matrix, b.reshape(right, {size, 1})), b.result().shape));
}

constexpr std::array kOps = {
    OpEntry{"aten::cholesky", cholesky},
    OpEntry{"aten::cholesky_inverse", cholesky_inverse},
    OpEntry{"aten::cholesky_solve", cholesky_solve},
    OpEntry{"aten::inverse", inverse},
    OpEntry{"aten::linalg_cholesky", cholesky},
    OpEntry{"aten::linalg_cholesky_ex", cholesky},
    OpEntry{"aten::linalg_inv", inverse},
    OpEntry{"aten::linalg_inv_ex", inverse},
    OpEntry{"aten::linalg_solve", solve},
    OpEntry{"aten::linalg_solve_ex", solve},
    OpEntry{"aten::linalg_solve_triangular", solve_triangular},
    OpEntry{"aten::linalg_tensorinv", tensor_inverse},
    OpEntry{"aten::linalg_tensorsolve", tensor_solve},
    OpEntry{"aten::triangular_solve", old_triangular_solve},
};

}  // namespace

Tensor inverse_of(OpBuilder& b, const Tensor& a) { return small_enough(b, a) ? solved(b, a, identity_like(b, a)) : a; }

OpEntries small_matrix_ops() { return kOps; }

}  // namespace leapp::onnx_ops
