// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the special functions share. They are computed in float64 whatever the result's dtype, from formulas whose
// coefficients are made here and not copied: power and asymptotic series, and integrals of analytic functions, for
// which the trapezoidal rule converges exponentially (Trefethen and Weideman, SIAM Review 56, 2014). Formulas are cited
// by their number in the NIST Digital Library of Mathematical Functions (DLMF).
#pragma once

#include <limits>
#include <vector>

#include "emit/onnx/builder.h"
#include "emit/onnx/op_table.h"

namespace leapp::onnx_ops {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

/// The argument as float64, rounded to the result's dtype before, as torch does.
Tensor special_argument(OpBuilder& b, std::string_view name);
/// Rounds `value` to the result's dtype.
void bind_special(OpBuilder& b, const Tensor& value);

/// What `expression` gives in the dtype torch computes in, as float64: for the steps whose rounding shows.
template <typename Expression>
Tensor rounded(OpBuilder& b, Expression expression) {
  const DType dtype = b.result().dtype;
  return b.cast(expression(is_half(dtype) ? DType::kFloat32 : dtype), DType::kFloat64);
}

/// A handler of one argument, from a function over float64.
template <Tensor (*function)(OpBuilder& b, const Tensor& x)>
void special_unary(OpBuilder& b) {
  bind_special(b, function(b, special_argument(b, b.has("self") ? "self" : "x")));
}

/// One-dimensional float64.
Tensor numbers(OpBuilder& b, const Numbers& values);

/// x with a new last dimension, to meet a vector of nodes or exponents.
Tensor with_nodes(OpBuilder& b, const Tensor& x);

/// The sum of weights[i] * terms[..., i].
Tensor weighted_sum(OpBuilder& b, const Tensor& terms, const Numbers& weights);

/// The sum of coefficients[k] x^k.
Tensor polynomial(OpBuilder& b, const Tensor& x, const Numbers& coefficients);

/// The products of terms[..., 0] to terms[..., i], for each i. REQUIRES: positive terms.
Tensor running_products(OpBuilder& b, const Tensor& terms);

/// Equally spaced nodes from zero on, and the trapezoidal rule's weights for the integral of an even function over
/// the whole axis.
struct Trapezoid {
  Numbers nodes;
  Numbers weights;
};
[[nodiscard]] Trapezoid trapezoid(double step, double end);

struct Piece {
  Tensor where;  ///< bool
  Tensor value;
};
/// The value of the first piece that holds, or else `otherwise`. Every piece is computed everywhere.
Tensor piecewise(OpBuilder& b, const std::vector<Piece>& pieces, const Tensor& otherwise);

Tensor number(OpBuilder& b, double value);
Tensor negated(OpBuilder& b, const Tensor& x);
Tensor is_whole(OpBuilder& b, const Tensor& x);
Tensor is_even(OpBuilder& b, const Tensor& whole);

/// x less the nearest whole number: sin and cos of pi times it are exact at their zeros.
Tensor from_nearest(OpBuilder& b, const Tensor& x);

/// ln |gamma(x)|
Tensor log_gamma(OpBuilder& b, const Tensor& x);
/// ln gamma(x) less (x - 1/2) ln x - x + ln(2 pi) / 2, for large x.
Tensor stirling_tail(OpBuilder& b, const Tensor& x);

/// e^(x^2) erfc(x), and the error functions made of it.
Tensor erfcx(OpBuilder& b, const Tensor& x);
Tensor erfc_accurate(OpBuilder& b, const Tensor& x);
Tensor erf_accurate(OpBuilder& b, const Tensor& x);

}  // namespace leapp::onnx_ops
