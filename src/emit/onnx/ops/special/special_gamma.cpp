// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The gamma function's logarithm and derivatives, and the Hurwitz zeta function.
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

using std::numbers::pi;

/// The Bernoulli numbers of even index, from the second on (DLMF 24.2).
constexpr std::array kBernoulli = {
    1.0 / 6, -1.0 / 30,     1.0 / 42,      -1.0 / 30,       5.0 / 66,       -691.0 / 2730,
    7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730,
};

/// Below this, recurrences lift the argument to where asymptotic series hold to the last digit.
constexpr std::int64_t kLift = 10;
constexpr std::size_t kSeriesTerms = 9;

struct Lifted {
  Tensor low;    ///< bool: x is below kLift
  Tensor terms;  ///< x, x + 1, ..., x + kLift - 1, as the last dimension
  Tensor value;  ///< x, or x + kLift where low
};

Tensor consecutive(OpBuilder& b, const Tensor& x, std::int64_t count) {
  const Ints steps = iota(count);
  return b.binary("Add", with_nodes(b, x), numbers(b, Numbers(steps.begin(), steps.end())));
}

Lifted lifted(OpBuilder& b, const Tensor& x) {
  const Tensor low = compare_number(b, "Less", x, kLift);
  return {low, consecutive(b, x, kLift), b.where(low, with_number(b, "Add", x, kLift), x)};
}

/// `high` less, where x was lifted, what lifting it added.
Tensor lowered(OpBuilder& b, const Lifted& from, const Tensor& high, const Tensor& added) {
  return b.binary("Sub", high, b.where(from.low, added, number(b, 0)));
}

/// A series in 1 / x^2 over the Bernoulli numbers, each times `scale` of its index.
template <typename Scale>
Tensor bernoulli_series(OpBuilder& b, const Tensor& x, Scale scale) {
  Numbers coefficients;
  for (std::size_t k = 0; k < kSeriesTerms; ++k) {
    coefficients.push_back(kBernoulli[k] * scale(2 * static_cast<double>(k) + 2));
  }
  return polynomial(b, b.unary("Reciprocal", b.binary("Mul", x, x)), coefficients);
}

/// DLMF 5.11.1, for x >= 0; the terms are in an order that keeps infinity.
Tensor log_gamma_of_positive(OpBuilder& b, const Tensor& x) {
  const Lifted from = lifted(b, x);
  const Tensor& z = from.value;
  const Tensor rest = with_number(b, "Add", stirling_tail(b, z), 0.5 * std::log(2 * pi) - 0.5);
  const Tensor main = b.binary("Mul", with_number(b, "Sub", z, 0.5), with_number(b, "Sub", b.unary("Log", z), 1));
  const Tensor product = b.reduce("ReduceProd", from.terms, {-1}, false);
  return lowered(b, from, b.binary("Add", main, rest), b.unary("Log", product));
}

Tensor one_minus(OpBuilder& b, const Tensor& x) { return number_with(b, "Sub", 1, x); }

/// DLMF 5.11.2, for x >= 0.
Tensor digamma_of_positive(OpBuilder& b, const Tensor& x) {
  const Lifted from = lifted(b, x);
  const Tensor& z = from.value;
  const Tensor inverse = b.unary("Reciprocal", z);
  const Tensor series =
      b.binary("Mul", bernoulli_series(b, z, [](double k) { return 1 / k; }), b.binary("Mul", inverse, inverse));
  const Tensor small = b.binary("Add", with_number(b, "Mul", inverse, 0.5), series);
  const Tensor added = b.reduce("ReduceSum", b.unary("Reciprocal", from.terms), {-1}, false);
  return lowered(b, from, b.binary("Sub", b.unary("Log", z), small), added);
}

/// DLMF 5.15.8, for x >= 0.
Tensor trigamma_of_positive(OpBuilder& b, const Tensor& x) {
  const Lifted from = lifted(b, x);
  const Tensor inverse = b.unary("Reciprocal", from.value);
  const Tensor square = b.binary("Mul", inverse, inverse);
  const Tensor series = b.binary("Mul", bernoulli_series(b, from.value, [](double) { return 1.0; }), square);
  const Tensor factor = with_number(b, "Add", b.binary("Add", with_number(b, "Mul", inverse, 0.5), series), 1);
  const Tensor powers = b.unary("Reciprocal", b.binary("Mul", from.terms, from.terms));
  // Lifting subtracted these.
  return lowered(b, from, b.binary("Mul", inverse, factor), negated(b, b.reduce("ReduceSum", powers, {-1}, false)));
}

Tensor digamma(OpBuilder& b, const Tensor& x) {
  const Tensor negative = compare_number(b, "Less", x, 0);
  const Tensor regular = digamma_of_positive(b, b.where(negative, one_minus(b, x), x));
  const Tensor turn = with_number(b, "Mul", from_nearest(b, x), pi);
  const Tensor cotangent = b.binary("Div", b.unary("Cos", turn), b.unary("Sin", turn));
  const Tensor reflected = b.binary("Sub", regular, with_number(b, "Mul", cotangent, pi));
  return piecewise(b,
                   {{compare_number(b, "Equal", x, 0), negated(b, b.unary("Reciprocal", x))},
                    {b.binary("And", negative, is_whole(b, x)), number(b, kNotANumber)},
                    {negative, reflected}},
                   regular);
}

/// torch multiplies by pi in the result's dtype, which decides what comes out at the poles.
Tensor trigamma(OpBuilder& b, const Tensor& x) {
  const Tensor turn = rounded(b, [&](DType dtype) { return with_number(b, "Mul", b.cast(x, dtype), pi); });
  const Tensor sine = b.unary("Sin", turn);
  const Tensor poles = number_with(b, "Div", pi * pi, b.binary("Mul", sine, sine));
  const Tensor reflect = compare_number(b, "Less", x, 0.5);
  const Tensor regular = trigamma_of_positive(b, b.where(reflect, one_minus(b, x), x));
  return b.where(reflect, b.binary("Sub", poles, regular), regular);
}

/// The Euler-Maclaurin tail of the zeta series, DLMF 25.11.5, over w^-s.
Tensor zeta_tail(OpBuilder& b, const Tensor& s, const Tensor& w) {
  Numbers weights(2 * kBernoulli.size() - 1, 0);
  double factorial = 1;
  for (std::size_t k = 0; k < kBernoulli.size(); ++k) {
    factorial *= static_cast<double>((2 * k + 1) * (2 * k + 2));
    weights[2 * k] = kBernoulli[k] / factorial;
  }
  const Tensor ratios = b.binary("Div", consecutive(b, s, std::ssize(weights)), with_nodes(b, w));
  const Tensor corrections = weighted_sum(b, running_products(b, ratios), weights);
  const Tensor integral = b.binary("Div", w, with_number(b, "Sub", s, 1));
  return b.binary("Add", with_number(b, "Add", integral, 0.5), corrections);
}

/// The sum over n of (q + n)^-s, for s > 1 and q > 0.
Tensor zeta_of_positive(OpBuilder& b, const Tensor& s, const Tensor& q) {
  const Tensor exponent = negated(b, s);
  const Tensor powers = b.binary("Pow", consecutive(b, q, kLift), with_nodes(b, exponent));
  const Tensor sum = b.reduce("ReduceSum", powers, {-1}, false);
  const Tensor w = with_number(b, "Add", q, kLift);
  const Tensor power = b.binary("Pow", w, exponent);
  // Where the tail is nothing beside the sum, its factors may overflow.
  const Tensor nothing = b.compare("LessOrEqual", power, with_number(b, "Mul", sum, 1e-18));
  return b.where(nothing, sum, b.binary("Add", sum, b.binary("Mul", power, zeta_tail(b, s, w))));
}

/// With q = r - m, 0 < r < 1, and s whole: the m terms of negative base are a difference of two zeta functions, so
/// zeta(s, q) = zeta(s, r) + (-1)^s (zeta(s, 1 - r) - zeta(s, 1 - q)).
Tensor zeta(OpBuilder& b, const Tensor& s, const Tensor& q) {
  const Shape shape = broadcast_shapes(s.shape, q.shape);
  const Tensor wide = b.expand(q, shape);
  const Tensor below = compare_number(b, "Less", wide, 0);
  const Tensor part = b.binary("Sub", wide, b.unary("Floor", wide));
  const Tensor rest = b.binary("Sub", b.unary("Ceil", wide), wide);  // 1 - part, exactly
  const Tensor one = number(b, 1);
  const Tensor three =
      b.concat({b.unsqueeze(b.where(below, part, wide), {0}), b.unsqueeze(b.where(below, rest, one), {0}),
                b.unsqueeze(b.where(below, one_minus(b, wide), one), {0})},
               0);
  const Tensor values = zeta_of_positive(b, s, three);
  const Tensor main = b.select(values, 0, 0);
  const Tensor terms = b.binary("Sub", b.select(values, 0, 1), b.select(values, 0, 2));
  const Tensor alternating = b.where(is_even(b, s), terms, negated(b, terms));
  const Tensor not_positive = compare_number(b, "LessOrEqual", q, 0);
  // The limit is zero, but torch says NaN.
  const Tensor nothing = b.binary("And", compare_number(b, "Equal", s, kInfinity), compare_number(b, "Greater", q, 1));
  return piecewise(b,
                   {{compare_number(b, "Equal", s, 1), number(b, kInfinity)},
                    {compare_number(b, "Less", s, 1), number(b, kNotANumber)},
                    {b.binary("And", not_positive, is_whole(b, q)), number(b, kInfinity)},
                    {b.binary("And", not_positive, b.logical_not(is_whole(b, s))), number(b, kNotANumber)},
                    {b.binary("Or", compare_number(b, "Equal", q, kInfinity), nothing), number(b, kNotANumber)},
                    {below, b.binary("Add", main, alternating)}},
                   main);
}

void bind_zeta(OpBuilder& b) { bind_special(b, zeta(b, special_argument(b, "self"), special_argument(b, "other"))); }

/// (-1)^(n+1) n! zeta(n + 1, x), n! and the product in the result's dtype: they may overflow as torch's do.
void polygamma(OpBuilder& b) {
  const std::int64_t order = b.integer("n");
  const Tensor x = special_argument(b, "self");
  if (order == 0) return bind_special(b, digamma(b, x));
  if (order == 1) return bind_special(b, trigamma(b, x));
  const auto n = static_cast<double>(order);
  const Tensor series = b.cast(zeta(b, number(b, n + 1), x), b.result().dtype);
  const double factor = std::exp(std::lgamma(n + 1)) * (order % 2 != 0 ? 1 : -1);
  b.bind(with_number(b, "Mul", series, factor));
}

void mvlgamma(OpBuilder& b) {
  const std::int64_t p = b.integer("p");
  Numbers halves;
  for (std::int64_t i = 0; i < p; ++i) halves.push_back(0.5 * static_cast<double>(i));
  const Tensor shifted = b.binary("Sub", with_nodes(b, special_argument(b, "self")), numbers(b, halves));
  const Tensor sum = b.reduce("ReduceSum", log_gamma(b, shifted), {-1}, false);
  bind_special(b, with_number(b, "Add", sum, 0.25 * std::log(pi) * static_cast<double>(p * (p - 1))));
}

constexpr std::array kSpecialGammaOps = {
    EmitEntry{"aten::digamma", special_unary<digamma>},
    EmitEntry{"aten::lgamma", special_unary<log_gamma>},
    EmitEntry{"aten::mvlgamma", mvlgamma},
    EmitEntry{"aten::polygamma", polygamma},
    EmitEntry{"aten::special_digamma", special_unary<digamma>},
    EmitEntry{"aten::special_gammaln", special_unary<log_gamma>},
    EmitEntry{"aten::special_multigammaln", mvlgamma},
    EmitEntry{"aten::special_polygamma", polygamma},
    EmitEntry{"aten::special_psi", special_unary<digamma>},
    EmitEntry{"aten::special_zeta", bind_zeta},
    EmitEntry{"aten::special_zeta.other_scalar", bind_zeta},
    EmitEntry{"aten::special_zeta.self_scalar", bind_zeta},
};

}  // namespace

Tensor stirling_tail(OpBuilder& b, const Tensor& x) {
  return b.binary("Div", bernoulli_series(b, x, [](double k) { return 1 / (k * (k - 1)); }), x);
}

Tensor log_gamma(OpBuilder& b, const Tensor& x) {
  const Tensor negative = compare_number(b, "Less", x, 0);
  const Tensor regular = log_gamma_of_positive(b, b.where(negative, one_minus(b, x), x));
  const Tensor sine = b.unary("Abs", b.unary("Sin", with_number(b, "Mul", from_nearest(b, x), pi)));
  const Tensor reflected = b.binary("Sub", b.unary("Log", number_with(b, "Div", pi, sine)), regular);
  return piecewise(b, {{compare_number(b, "Equal", x, -kInfinity), number(b, kInfinity)}, {negative, reflected}},
                   regular);
}

EmitEntries special_gamma_ops() { return kSpecialGammaOps; }

}  // namespace leapp::onnx_ops
