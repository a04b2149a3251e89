// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Systems of linear equations: inverses, triangles, Cholesky.
#include <algorithm>
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/matrices.h"

namespace leapp::onnx_ops {
namespace {

bool info_is_used(OpBuilder& b, std::size_t index) {
  return b.result_count() > index && !b.node().result(index)->unused();
}

/// The `info` of an operator that solves with A: which pivot is zero.
void bind_info_of(OpBuilder& b, const Tensor& a) {
  if (!info_is_used(b, 1)) return;
  b.bind(1, a.elements() == 0 ? b.full(std::int64_t{0}, b.result(1)) : first_zero_pivot(b, lu_factors(b, a).packed));
}

void inverse(OpBuilder& b) {
  const Tensor a = b.tensor(b.has("A") ? "A" : "self");
  bind_info_of(b, a);
  b.bind(inverse_of(b, a));
}

/// linalg.solve with a right side that is a matrix, or a vector for each matrix.
void solve(OpBuilder& b) {
  const Tensor a = b.tensor("A");
  Tensor right = b.tensor("B");
  const bool vector =
      right.rank() == 1 || (right.rank() + 1 == a.rank() && right.shape == Shape(a.shape.begin(), a.shape.end() - 1));
  if (vector) right = b.unsqueeze(right, {-1});
  const bool left = b.flag("left");
  const Tensor matrix = left ? a : transposed(b, a);
  const Tensor side = left || vector ? right : transposed(b, right);
  const Shape batch = broadcast_shapes(batch_of(matrix), batch_of(side));
  Tensor x = solved(b, with_batch(b, matrix, batch), with_batch(b, side, batch));
  bind_info_of(b, a);
  if (!left && !vector) x = transposed(b, x);
  b.bind(b.reshape(x, b.result().shape));
}

void cholesky(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  const bool upper = b.flag("upper");
  const Tensor lower = lower_cholesky(b, upper ? transposed(b, a) : a);
  if (info_is_used(b, 1)) {
    const Tensor positive = compare_number(b, "Greater", take_diagonal(b, lower, {0, -2, -1}), 0);
    b.bind(1, first_true(b, b.logical_not(positive)));
  }
  b.bind(upper ? transposed(b, lower) : lower);
}

void solve_triangular(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  const Tensor right = b.tensor("B");
  const bool left = b.flag("left");
  const bool upper = b.flag("upper");
  const Tensor matrix = left ? a : transposed(b, a);
  const Tensor side = left ? right : transposed(b, right);
  const Shape batch = broadcast_shapes(batch_of(matrix), batch_of(side));
  const Tensor x = triangle_solved(b, with_batch(b, matrix, batch), with_batch(b, side, batch),
                                   {left ? upper : !upper, b.flag("unitriangular")});
  b.bind(left ? x : transposed(b, x));
}

void old_triangular_solve(OpBuilder& b) {
  const Tensor right = b.tensor("self");
  const Tensor a = b.tensor("A");
  const bool flipped = b.flag("transpose");
  const Shape batch = broadcast_shapes(batch_of(a), batch_of(right));
  const Tensor matrix = with_batch(b, flipped ? transposed(b, a) : a, batch);
  const bool upper = b.flag("upper") != flipped;
  b.bind(0, triangle_solved(b, matrix, with_batch(b, right, batch), {upper, b.flag("unitriangular")}));
  if (b.result_count() > 1) b.bind(1, with_batch(b, a, batch));
}

/// X of L L^T X = B.
Tensor cholesky_solved(OpBuilder& b, const Tensor& factor, const Tensor& right) {
  const Tensor lower = b.flag("upper") ? transposed(b, factor) : factor;
  const Tensor half = triangle_solved(b, lower, right, {false, false});
  return triangle_solved(b, transposed(b, lower), half, {true, false});
}

void cholesky_solve(OpBuilder& b) {
  const Tensor right = b.tensor("self");
  const Tensor factor = b.tensor("input2");
  const Shape batch = broadcast_shapes(batch_of(factor), batch_of(right));
  b.bind(cholesky_solved(b, with_batch(b, factor, batch), with_batch(b, right, batch)));
}

void cholesky_inverse(OpBuilder& b) {
  const Tensor factor = b.tensor("self");
  b.bind(cholesky_solved(b, factor, identity_like(b, factor)));
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
  b.bind(b.reshape(solved(b, matrix, b.reshape(right, {size, 1})), b.result().shape));
}

constexpr std::array kSolverOps = {
    EmitEntry{"aten::cholesky", cholesky},
    EmitEntry{"aten::cholesky_inverse", cholesky_inverse},
    EmitEntry{"aten::cholesky_solve", cholesky_solve},
    EmitEntry{"aten::inverse", inverse},
    EmitEntry{"aten::linalg_cholesky", cholesky},
    EmitEntry{"aten::linalg_cholesky_ex", cholesky},
    EmitEntry{"aten::linalg_inv", inverse},
    EmitEntry{"aten::linalg_inv_ex", inverse},
    EmitEntry{"aten::linalg_solve", solve},
    EmitEntry{"aten::linalg_solve_ex", solve},
    EmitEntry{"aten::linalg_solve_triangular", solve_triangular},
    EmitEntry{"aten::linalg_tensorinv", tensor_inverse},
    EmitEntry{"aten::linalg_tensorsolve", tensor_solve},
    EmitEntry{"aten::triangular_solve", old_triangular_solve},
};

}  // namespace

EmitEntries solver_ops() { return kSolverOps; }

}  // namespace leapp::onnx_ops
