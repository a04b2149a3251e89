// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// ONNX has no solvers and no factorisations. Here are the parts they are written from: matrices in the last two
// dimensions, any batch before them, and rows and columns by a number (int64[1]) that may be a loop's.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// What iterations compute in, whatever the result is.
inline constexpr DType kWork = DType::kFloat64;

inline Tensor zero(OpBuilder& b, const Tensor& like) { return b.constant(0.0, like.dtype); }
Tensor transposed(OpBuilder& b, const Tensor& m);
[[nodiscard]] Shape batch_of(const Tensor& m);
/// `m` expanded to the batch dimensions `batch`.
Tensor with_batch(OpBuilder& b, const Tensor& m, Shape batch);
/// The identity of [batch, rows, columns].
Tensor identity(OpBuilder& b, const TensorType& type);
Tensor identity_like(OpBuilder& b, const Tensor& m);
/// What lies on and below (upper: above) a diagonal, zero elsewhere.
Tensor lower_part(OpBuilder& b, const Tensor& m, std::int64_t diagonal = 0);
Tensor upper_part(OpBuilder& b, const Tensor& m, std::int64_t diagonal = 0);
/// The symmetric matrix of which `m` holds one triangle.
Tensor symmetric_from(OpBuilder& b, const Tensor& m, bool upper);

/// Row `k` and column `k`, with their dimension.
Tensor row_at(OpBuilder& b, const Tensor& m, const Tensor& k);
Tensor column_at(OpBuilder& b, const Tensor& m, const Tensor& k);
/// 0, 1, ... as a column or as a row.
Tensor row_numbers(OpBuilder& b, const Tensor& m);
Tensor column_numbers(OpBuilder& b, const Tensor& m);

/// L and U in one matrix, and the row (from 0, int64[batch, min]) that each row was swapped with, as LAPACK's getrf.
struct LuFactors {
  Tensor packed;
  Tensor pivots;
};
LuFactors lu_factors(OpBuilder& b, const Tensor& a);
/// The number of the first true one in the last dimension, from 1; 0 where there is none. int32.
Tensor first_true(OpBuilder& b, const Tensor& mask);
/// first_true of the zeros on the diagonal.
Tensor first_zero_pivot(OpBuilder& b, const Tensor& packed);
/// Which row of A each row of L U is (int64[batch, rows]), from the swaps.
Tensor row_order(OpBuilder& b, const Tensor& pivots, std::int64_t rows);
/// P of A = P L U, of `dtype`.
Tensor permutation(OpBuilder& b, const Tensor& order, DType dtype);
Tensor with_rows_in(OpBuilder& b, const Tensor& m, const Tensor& order);

struct Triangle {
  bool upper = false;
  bool unit = false;  ///< ones on the diagonal, whatever stands there
};
/// X of A X = B where A is a triangle. Both have the same batch.
Tensor triangle_solved(OpBuilder& b, const Tensor& a, const Tensor& right, const Triangle& triangle);
/// X of A X = B by Gauss-Jordan elimination with row pivots. Both have the same batch.
Tensor solved(OpBuilder& b, const Tensor& a, const Tensor& right);
/// The inverse of the square matrices in the last two dimensions.
Tensor inverse_of(OpBuilder& b, const Tensor& a);
/// L of A = L L^T; reads the lower triangle. NaN from the first pivot on that is not positive.
Tensor lower_cholesky(OpBuilder& b, const Tensor& a);

}  // namespace leapp::onnx_ops
