// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// LU and QR, with the conventions of LAPACK that torch's results show: row pivots, signs of reflectors.
#include <algorithm>
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/householder.h"
#include "emit/onnx/ops/linalg/matrices.h"

namespace leapp::onnx_ops {
namespace {

/// Results that were not asked for are empty.
void bind_or_empty(OpBuilder& b, std::size_t index, const Tensor& value) {
  if (graph::element_count(b.result(index).shape) == 0) return b.bind(index, b.full(0.0, b.result(index)));
  b.bind(index, value);
}

bool pivots_rows(OpBuilder& b) {
  if (!b.has("pivot") || b.flag("pivot")) return true;
  b.refuse("LU without pivots");
  return false;
}

void lu_factor(OpBuilder& b) {
  if (!pivots_rows(b)) return;
  const LuFactors lu = lu_factors(b, b.tensor(b.has("A") ? "A" : "self"));
  b.bind(0, lu.packed);
  const Tensor from_one = b.binary("Add", lu.pivots, b.constant(std::int64_t{1}, DType::kInt64));
  b.bind(1, b.cast(from_one, DType::kInt32));
  if (is_used(b, 2)) b.bind(2, first_zero_pivot(b, lu.packed));
}

/// L with ones on the diagonal and U, each as wide or as high as the shorter side.
void bind_parts(OpBuilder& b, const Tensor& packed) {
  const std::int64_t size = std::min(packed.size(-2), packed.size(-1));
  const Tensor left = b.slice(packed, -1, 0, size);
  bind_or_empty(b, 1, b.where(triangle_mask(b, left.size(-2), size, -1, false), left, identity_like(b, left)));
  bind_or_empty(b, 2, upper_part(b, b.slice(packed, -2, 0, size)));
}

void lu(OpBuilder& b) {
  if (!pivots_rows(b)) return;
  const Tensor a = b.tensor("A");
  const LuFactors factors = lu_factors(b, a);
  bind_or_empty(b, 0, permutation(b, row_order(b, factors.pivots, a.size(-2)), a.dtype));
  bind_parts(b, factors.packed);
}

/// LAPACK counts from one.
Tensor order_from(OpBuilder& b, const Tensor& pivots, std::int64_t rows) {
  const Tensor from_zero = b.binary("Sub", b.cast(pivots, DType::kInt64), b.constant(std::int64_t{1}, DType::kInt64));
  return row_order(b, from_zero, rows);
}

void lu_unpack(OpBuilder& b) {
  const Tensor packed = b.tensor("LU_data");
  if (b.flag("unpack_pivots")) {
    b.bind(0, permutation(b, order_from(b, b.tensor("LU_pivots"), packed.size(-2)), packed.dtype));
  } else {
    b.bind(0, b.full(0.0, b.result(0)));
  }
  bind_parts(b, packed);
}

struct LuSystem {
  Tensor packed;
  Tensor pivots;
  bool transpose = false;
};

/// X of A X = B, or of A^T X = B, with A = P L U.
Tensor lu_solved(OpBuilder& b, const LuSystem& a, const Tensor& side) {
  const Shape batch = broadcast_shapes(batch_of(a.packed), batch_of(side));
  const Tensor packed = with_batch(b, a.packed, batch);
  const Tensor right = with_batch(b, side, batch);
  Shape order_shape = batch;
  order_shape.push_back(packed.size(-2));
  const Tensor order = b.expand(order_from(b, a.pivots, packed.size(-2)), order_shape);
  if (!a.transpose) {
    const Tensor half = triangle_solved(b, packed, with_rows_in(b, right, order), {false, true});
    return triangle_solved(b, packed, half, {true, false});
  }
  const Tensor flipped = transposed(b, packed);
  const Tensor half = triangle_solved(b, flipped, right, {false, false});
  const Tensor whole = triangle_solved(b, flipped, half, {true, true});
  return b.matmul(permutation(b, order, packed.dtype), whole);
}

void linalg_lu_solve(OpBuilder& b) {
  const bool left = b.flag("left");
  const bool adjoint = b.flag("adjoint");
  const Tensor right = b.tensor("B");
  const LuSystem a{b.tensor("LU"), b.tensor("pivots"), left ? adjoint : !adjoint};
  const Tensor x = lu_solved(b, a, left ? right : transposed(b, right));
  b.bind(left ? x : transposed(b, x));
}

void lu_solve(OpBuilder& b) {
  b.bind(lu_solved(b, {b.tensor("LU_data"), b.tensor("LU_pivots"), false}, b.tensor("self")));
}

void geqrf(OpBuilder& b) {
  const Reflectors q = reflectors_of(b, b.tensor("self"));
  b.bind(0, q.packed);
  b.bind(1, q.tau);
}

/// The first `columns` columns of Q.
Tensor q_of(OpBuilder& b, const Reflectors& q, std::int64_t columns) {
  Shape shape = q.packed.shape;
  shape.back() = columns;
  return reflected(b, q, identity(b, {q.packed.dtype, shape}), false);
}

struct QrMode {
  bool q = true;
  bool complete = false;
};

void bind_qr(OpBuilder& b, const Tensor& a, const QrMode& mode) {
  const Reflectors q = reflectors_of(b, a);
  const std::int64_t size = mode.complete ? a.size(-2) : std::min(a.size(-2), a.size(-1));
  bind_or_empty(b, 0, mode.q ? q_of(b, q, size) : a);
  b.bind(1, upper_part(b, b.slice(q.packed, -2, 0, size)));
}

void linalg_qr(OpBuilder& b) {
  const std::string mode = b.text("mode");
  bind_qr(b, b.tensor("A"), {mode != "r", mode == "complete"});
}

void old_qr(OpBuilder& b) { bind_qr(b, b.tensor("self"), {true, !b.flag("some")}); }

void householder_product(OpBuilder& b) {
  const Tensor v = b.tensor(b.has("input") ? "input" : "self");
  b.bind(q_of(b, {v, b.tensor(b.has("tau") ? "tau" : "input2")}, v.size(-1)));
}

void ormqr(OpBuilder& b) {
  const Tensor other = b.tensor("input3");
  const bool left = b.flag("left");
  const bool transpose = b.flag("transpose");
  const Reflectors q{b.tensor("self"), b.tensor("input2")};
  // C Q = (Q^T C^T)^T
  const Tensor found = reflected(b, q, left ? other : transposed(b, other), left ? transpose : !transpose);
  b.bind(left ? found : transposed(b, found));
}

constexpr std::array kFactorisationOps = {
    EmitEntry{"aten::_lu_with_info", lu_factor},
    EmitEntry{"aten::geqrf", geqrf},
    EmitEntry{"aten::linalg_householder_product", householder_product},
    EmitEntry{"aten::linalg_lu", lu},
    EmitEntry{"aten::linalg_lu_factor", lu_factor},
    EmitEntry{"aten::linalg_lu_factor_ex", lu_factor},
    EmitEntry{"aten::linalg_lu_solve", linalg_lu_solve},
    EmitEntry{"aten::linalg_qr", linalg_qr},
    EmitEntry{"aten::lu_solve", lu_solve},
    EmitEntry{"aten::lu_unpack", lu_unpack},
    EmitEntry{"aten::orgqr", householder_product},
    EmitEntry{"aten::ormqr", ormqr},
    EmitEntry{"aten::qr", old_qr},
};

}  // namespace

EmitEntries factorisation_ops() { return kFactorisationOps; }

}  // namespace leapp::onnx_ops
