// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Small expressions that several families share.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// `x op number`, the number in x's dtype.
Tensor with_number(OpBuilder& b, const std::string& op, const Tensor& x, double number);
/// `number op x`.
Tensor number_with(OpBuilder& b, const std::string& op, double number, const Tensor& x);

/// x == number, x < number, ... as bool.
Tensor compare_number(OpBuilder& b, const std::string& op, const Tensor& x, double number);

Tensor is_nan(OpBuilder& b, const Tensor& x);
Tensor is_inf(OpBuilder& b, const Tensor& x);

/// Whether the sign bit is set, of a negative zero as well; a NaN counts as positive.
Tensor sign_bit(OpBuilder& b, const Tensor& x);

/// Toward zero; integers pass.
Tensor truncate(OpBuilder& b, const Tensor& x);

/// The angle of the point (x, y), with the signs of zeros; and its distance from the origin, without overflow.
Tensor angle_of(OpBuilder& b, const Tensor& y, const Tensor& x);
Tensor length_of(OpBuilder& b, const Tensor& x, const Tensor& y);

/// Accurate where x is small.
Tensor log_of_one_plus(OpBuilder& b, const Tensor& x);
Tensor exp_minus_one(OpBuilder& b, const Tensor& x);

/// torch's `reduction` argument of losses: 0 none, 1 mean, 2 sum.
Tensor reduce_loss(OpBuilder& b, const Tensor& loss, std::int64_t reduction);

/// (sum |x|^p)^(1/p) over `dims`, with the limits p = 0, inf, -inf.
struct NormOptions {
  double order = 2;
  Ints dims;
  bool keepdim = false;
};
Tensor vector_norm(OpBuilder& b, const Tensor& x, const NormOptions& options);

/// Ones where column - row <= diagonal (lower) or >= diagonal (upper), as bool.
Tensor triangle_mask(OpBuilder& b, std::int64_t rows, std::int64_t columns, std::int64_t diagonal, bool upper);

/// Elements of a diagonal, as the last dimension.
struct DiagonalOptions {
  std::int64_t offset = 0;
  std::int64_t first = 0;
  std::int64_t second = 1;
};
Tensor take_diagonal(OpBuilder& b, const Tensor& x, const DiagonalOptions& options);

/// The last dimension of `x` as a diagonal of new dimensions `first` and `second`, zero elsewhere.
Tensor put_diagonal(OpBuilder& b, const Tensor& x, const DiagonalOptions& options);

}  // namespace leapp::onnx_ops
