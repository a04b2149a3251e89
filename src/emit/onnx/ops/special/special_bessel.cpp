// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Bessel functions of order zero and one. Near zero by their power series; farther out by Hankel's integrals, whose
// integrands are analytic, or (I) by asymptotic series.
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

using std::numbers::egamma;
using std::numbers::pi;

/// Bounds of the power series: there the others are exact, and cancellation has not yet cost much.
constexpr double kEndOfJ = 8;
constexpr double kEndOfK = 4;
constexpr double kEndOfI = 20;
constexpr std::size_t kTerms = 44;

Tensor squared(OpBuilder& b, const Tensor& x) { return b.binary("Mul", x, x); }

Tensor half_squared(OpBuilder& b, const Tensor& x) { return with_number(b, "Mul", squared(b, x), 0.25); }

/// (-1)^k / (k! (k + order)!), or without the signs: DLMF 10.2.2, 10.25.2.
Numbers power_series(int order, bool alternating) {
  Numbers coefficients = {1};
  while (coefficients.size() < kTerms) {
    const auto k = static_cast<double>(coefficients.size());
    coefficients.push_back(coefficients.back() / (k * (k + order)) * (alternating ? -1 : 1));
  }
  return coefficients;
}

/// The same, each times psi(k + 1) + psi(k + order + 1): what stands beside the logarithm in DLMF 10.8.1, 10.31.1.
Numbers digamma_series(int order, bool alternating) {
  Numbers coefficients = power_series(order, alternating);
  double sum = -2 * egamma + (order == 1 ? 1 : 0);
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    coefficients[k] *= sum;
    const auto next = static_cast<double>(k + 1);
    sum += 1 / next + 1 / (next + order);
  }
  return coefficients;
}

/// J or I of a small argument.
Tensor first_kind_series(OpBuilder& b, const Tensor& x, int order, bool alternating) {
  const Tensor even = polynomial(b, half_squared(b, x), power_series(order, alternating));
  return order == 0 ? even : b.binary("Mul", with_number(b, "Mul", x, 0.5), even);
}

/// 2 ln(x/2) J - (x/2)^order S, S the series with digammas.
Tensor log_series(OpBuilder& b, const Tensor& x, int order, bool alternating) {
  const Tensor log = with_number(b, "Mul", b.unary("Log", with_number(b, "Mul", x, 0.5)), 2);
  const Tensor main = b.binary("Mul", log, first_kind_series(b, x, order, alternating));
  Tensor rest = polynomial(b, half_squared(b, x), digamma_series(order, alternating));
  if (order == 1) rest = b.binary("Mul", rest, with_number(b, "Mul", x, 0.5));
  return b.binary("Sub", main, rest);
}

/// Nodes s of the integral of e^(-s^2) s^(2 order) f(s^2) over the axis, normalised by its value for f = 1.
struct HankelRule {
  Numbers squares;
  Numbers weights;
};

HankelRule hankel_rule(int order) {
  const Trapezoid rule = trapezoid(0.5, 6.5);
  HankelRule made;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double square = rule.nodes[i] * rule.nodes[i];
    made.squares.push_back(square);
    made.weights.push_back(rule.weights[i] * std::exp(-square) * std::numbers::inv_sqrtpi *
                           (order == 1 ? 2 * square : 1));
  }
  return made;
}

/// s^2 / (2 x) at the nodes.
Tensor hankel_argument(OpBuilder& b, const Tensor& x, const HankelRule& rule) {
  return b.binary("Div", numbers(b, rule.squares), with_nodes(b, with_number(b, "Mul", x, 2)));
}

struct Waves {
  Tensor first;   ///< J
  Tensor second;  ///< Y
};

/// For large x: J + iY is sqrt(2 / (pi x)) e^(i w), w = x - (order / 2 + 1 / 4) pi, times the mean of
/// (1 + i y)^(order - 1/2), y = s^2 / (2 x): DLMF 10.9.12 turned into the upper half plane. The angle is rounded as
/// torch's is, which of a large x is all that matters.
Waves waves(OpBuilder& b, const Tensor& x, int order) {
  const HankelRule rule = hankel_rule(order);
  const Tensor y = hankel_argument(b, x, rule);
  const Tensor size = b.unary("Sqrt", with_number(b, "Add", squared(b, y), 1));
  const Tensor real = b.unary("Sqrt", with_number(b, "Mul", with_number(b, "Add", size, 1), 0.5));
  const Tensor imaginary = b.binary("Div", with_number(b, "Mul", y, order == 1 ? 0.5 : -0.5), real);
  const auto mean = [&](const Tensor& part) {
    return weighted_sum(b, order == 1 ? part : b.binary("Div", part, size), rule.weights);
  };
  const Tensor p = mean(real);
  const Tensor q = mean(imaginary);
  const Tensor angle =
      rounded(b, [&](DType dtype) { return with_number(b, "Sub", b.cast(x, dtype), (0.5 * order + 0.25) * pi); });
  const Tensor cosine = b.unary("Cos", angle);
  const Tensor sine = b.unary("Sin", angle);
  const Tensor height = b.unary("Sqrt", number_with(b, "Div", 2 / pi, x));
  return {
      b.binary("Mul", height, b.binary("Sub", b.binary("Mul", p, cosine), b.binary("Mul", q, sine))),
      b.binary("Mul", height, b.binary("Add", b.binary("Mul", p, sine), b.binary("Mul", q, cosine))),
  };
}

Tensor with_sign_of(OpBuilder& b, const Tensor& x, const Tensor& value) {
  return b.where(compare_number(b, "Less", x, 0), negated(b, value), value);
}

template <int order>
Tensor bessel_j(OpBuilder& b, const Tensor& x) {
  const Tensor size = b.unary("Abs", x);
  const Tensor value = b.where(compare_number(b, "LessOrEqual", size, kEndOfJ), first_kind_series(b, size, order, true),
                               waves(b, size, order).first);
  return order == 1 ? with_sign_of(b, x, value) : value;
}

template <int order>
Tensor bessel_y(OpBuilder& b, const Tensor& x) {
  Tensor series = log_series(b, x, order, true);
  if (order == 1) series = b.binary("Sub", series, number_with(b, "Div", 2, x));
  return piecewise(b,
                   {{compare_number(b, "Equal", x, 0), number(b, -kInfinity)},
                    {compare_number(b, "LessOrEqual", x, kEndOfJ), with_number(b, "Div", series, pi)}},
                   waves(b, x, order).second);
}

/// e^x K(x): DLMF 10.31.1 and 10.32.8.
template <int order>
Tensor scaled_k(OpBuilder& b, const Tensor& x) {
  Tensor series = with_number(b, "Mul", log_series(b, x, order, false), order == 1 ? 0.5 : -0.5);
  if (order == 1) series = b.binary("Add", series, b.unary("Reciprocal", x));
  const HankelRule rule = hankel_rule(order);
  const Tensor y = b.unary("Sqrt", with_number(b, "Add", hankel_argument(b, x, rule), 1));
  const Tensor mean = weighted_sum(b, order == 1 ? y : b.unary("Reciprocal", y), rule.weights);
  const Tensor far = b.binary("Mul", mean, b.unary("Sqrt", number_with(b, "Div", pi / 2, x)));
  return piecewise(b,
                   {{compare_number(b, "Equal", x, 0), number(b, kInfinity)},
                    {compare_number(b, "LessOrEqual", x, kEndOfK), b.binary("Mul", series, b.unary("Exp", x))}},
                   far);
}

template <int order>
Tensor bessel_k(OpBuilder& b, const Tensor& x) {
  return b.binary("Mul", scaled_k<order>(b, x), b.unary("Exp", negated(b, x)));
}

/// sqrt(x) e^-x I(x) for large x: DLMF 10.40.1.
Tensor asymptotic_i(OpBuilder& b, const Tensor& x, int order) {
  constexpr std::size_t kMost = 32;
  Numbers coefficients = {1 / std::sqrt(2 * pi)};
  while (coefficients.size() < kMost) {
    const auto k = static_cast<double>(coefficients.size());
    const double odd = 2 * k - 1;
    coefficients.push_back(coefficients.back() * (odd * odd - 4 * order) / (8 * k));
  }
  return polynomial(b, b.unary("Reciprocal", x), coefficients);
}

/// I(x) e^-|x|
template <int order>
Tensor scaled_i(OpBuilder& b, const Tensor& x) {
  const Tensor size = b.unary("Abs", x);
  const Tensor series = b.binary("Mul", first_kind_series(b, size, order, false), b.unary("Exp", negated(b, size)));
  const Tensor far = b.binary("Div", asymptotic_i(b, size, order), b.unary("Sqrt", size));
  const Tensor value = b.where(compare_number(b, "LessOrEqual", size, kEndOfI), series, far);
  return order == 1 ? with_sign_of(b, x, value) : value;
}

/// The exponential is rounded to the result's dtype, for it overflows in torch before the product would.
template <int order>
Tensor bessel_i(OpBuilder& b, const Tensor& x) {
  const Tensor growth = rounded(b, [&](DType dtype) { return b.cast(b.unary("Exp", b.unary("Abs", x)), dtype); });
  return b.binary("Mul", scaled_i<order>(b, x), growth);
}

Tensor spherical_j0(OpBuilder& b, const Tensor& x) {
  return piecewise(b, {{compare_number(b, "Equal", x, 0), number(b, 1)}, {is_inf(b, x), number(b, 0)}},
                   b.binary("Div", b.unary("Sin", x), x));
}

constexpr std::array kSpecialBesselOps = {
    EmitEntry{"aten::i0", special_unary<bessel_i<0>>},
    EmitEntry{"aten::special_bessel_j0", special_unary<bessel_j<0>>},
    EmitEntry{"aten::special_bessel_j1", special_unary<bessel_j<1>>},
    EmitEntry{"aten::special_bessel_y0", special_unary<bessel_y<0>>},
    EmitEntry{"aten::special_bessel_y1", special_unary<bessel_y<1>>},
    EmitEntry{"aten::special_i0", special_unary<bessel_i<0>>},
    EmitEntry{"aten::special_i0e", special_unary<scaled_i<0>>},
    EmitEntry{"aten::special_i1", special_unary<bessel_i<1>>},
    EmitEntry{"aten::special_i1e", special_unary<scaled_i<1>>},
    EmitEntry{"aten::special_modified_bessel_i0", special_unary<bessel_i<0>>},
    EmitEntry{"aten::special_modified_bessel_i1", special_unary<bessel_i<1>>},
    EmitEntry{"aten::special_modified_bessel_k0", special_unary<bessel_k<0>>},
    EmitEntry{"aten::special_modified_bessel_k1", special_unary<bessel_k<1>>},
    EmitEntry{"aten::special_scaled_modified_bessel_k0", special_unary<scaled_k<0>>},
    EmitEntry{"aten::special_scaled_modified_bessel_k1", special_unary<scaled_k<1>>},
    EmitEntry{"aten::special_spherical_bessel_j0", special_unary<spherical_j0>},
};

}  // namespace

EmitEntries special_bessel_ops() { return kSpecialBesselOps; }

}  // namespace leapp::onnx_ops
