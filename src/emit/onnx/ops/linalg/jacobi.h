// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// A V = W with orthogonal columns in V and W: the lengths of W's columns are the singular values of A, in no order.
/// All in float64.
struct OrthogonalColumns {
  Tensor w;
  Tensor v;      ///< only if asked for
  Tensor sizes;  ///< [batch, 1, columns]
};

/// One-sided Jacobi rotations. REQUIRES: `a` is not empty.
OrthogonalColumns orthogonal_columns(OpBuilder& b, const Tensor& a, bool with_v);

/// Largest first: [batch, min(rows, columns)], float64.
Tensor singular_values(OpBuilder& b, const Tensor& a);

/// A = U S V^T, largest first; U and V square if `full`. All in float64.
struct SingularVectors {
  Tensor u;
  Tensor values;
  Tensor v;
};
SingularVectors singular_vectors(OpBuilder& b, const Tensor& a, bool full);

/// Smallest first: [batch, n], float64. `a` is symmetric.
Tensor symmetric_eigenvalues(OpBuilder& b, const Tensor& a);

struct Eigenvectors {
  Tensor values;
  Tensor vectors;
};
Eigenvectors symmetric_eigenvectors(OpBuilder& b, const Tensor& a);

/// The inverse of what is not taken for zero: singular values above the larger of `atol` and `rtol` times the largest.
/// Both tolerances broadcast to [batch, 1, 1] and are float64.
struct PseudoInverse {
  Tensor inverse;
  Tensor rank;  ///< int64[batch]
  Tensor values;
};
PseudoInverse pseudo_inverse(OpBuilder& b, const Tensor& a, const Tensor& atol, const Tensor& rtol);

/// A norm of the matrices along two dimensions, without these: the largest singular value, the smallest, or their sum.
struct SpectralNorm {
  std::int64_t rows = -2;
  std::int64_t columns = -1;
  bool smallest = false;
  bool nuclear = false;
};
Tensor spectral_norm(OpBuilder& b, const Tensor& x, const SpectralNorm& norm);

}  // namespace leapp::onnx_ops
