// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Small expressions that several families share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// For sizes and positions, which are signed here and unsigned in std::vector.
inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
inline std::int64_t at(const Ints& list, std::int64_t index) { return list[at(index)]; }

/// A tensor or a number among the arguments, in the result's dtype; `input` is "self".
inline Tensor argument(OpBuilder& b, std::string_view name) { return b.operand(name, b.result().dtype); }
inline Tensor input(OpBuilder& b) { return argument(b, "self"); }
/// torch's `keepdim`, of operators that may lack it.
inline bool keepdim(OpBuilder& b) { return b.has("keepdim") && b.flag("keepdim"); }
/// Whether anything reads the result `index`.
inline bool is_used(OpBuilder& b, std::size_t index) {
  return b.result_count() > index && !b.node().result(index)->unused();
}

/// The table's ONNX operator of `input`.
inline void unary(OpBuilder& b) { b.bind(b.unary(b.onnx_op(), input(b))); }

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
