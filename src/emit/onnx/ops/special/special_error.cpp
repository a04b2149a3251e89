// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The error function's relatives, and the inverse of the normal distribution.
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

using std::numbers::pi;
constexpr double kRootOfPi = 1 / std::numbers::inv_sqrtpi;

Tensor square_of(OpBuilder& b, const Tensor& x) { return b.binary("Mul", x, x); }

/// For x >= 0: the midpoint rule for (2 x / pi) times the integral of e^(-t^2) / (x^2 + t^2), and the residue of its
/// pole (Matta and Reichel, Mathematics of Computation 25, 1971).
Tensor erfcx_of_positive(OpBuilder& b, const Tensor& x) {
  constexpr double kStep = 0.5;
  constexpr int kNodes = 13;
  constexpr double kFar = 6;         // the residue is nothing beyond
  constexpr double kInfinite = 1e8;  // only the first asymptotic term is left
  Numbers squares;
  Numbers weights;
  for (int i = 0; i < kNodes; ++i) {
    const double t = kStep * (i + 0.5);
    squares.push_back(t * t);
    weights.push_back(2 * kStep / pi * std::exp(-t * t));
  }
  const Tensor square = square_of(b, x);
  const Tensor terms = b.unary("Reciprocal", b.binary("Add", with_nodes(b, square), numbers(b, squares)));
  const Tensor sum = b.binary("Mul", x, weighted_sum(b, terms, weights));
  const Tensor turns = b.unary("Exp", with_number(b, "Mul", x, 2 * pi / kStep));
  const Tensor residue =
      b.binary("Div", with_number(b, "Mul", b.unary("Exp", square), 2), with_number(b, "Add", turns, 1));
  const Tensor first = number_with(b, "Div", 1 / kRootOfPi, x);
  return piecewise(b,
                   {{compare_number(b, "Less", x, kFar), b.binary("Add", sum, residue)},
                    {compare_number(b, "Greater", x, kInfinite), first}},
                   sum);
}

Tensor half_erfc(OpBuilder& b, const Tensor& t) { return with_number(b, "Mul", erfc_accurate(b, t), 0.5); }

Tensor normal_cdf(OpBuilder& b, const Tensor& x) {
  return half_erfc(b, with_number(b, "Mul", x, -std::numbers::sqrt2 / 2));
}

Tensor log_normal_cdf(OpBuilder& b, const Tensor& x) {
  const Tensor t = with_number(b, "Mul", x, std::numbers::sqrt2 / 2);
  const Tensor scaled = with_number(b, "Mul", erfcx(b, negated(b, t)), 0.5);
  const Tensor tail = b.binary("Sub", b.unary("Log", scaled), square_of(b, t));
  return b.where(compare_number(b, "Less", x, -1), tail, log_of_one_plus(b, negated(b, half_erfc(b, t))));
}

/// The inverse of erf for |y| <= 1/2, by its power series: DLMF 7.17.2.
Tensor inverse_erf_series(OpBuilder& b, const Tensor& y) {
  constexpr std::size_t kTerms = 28;
  Numbers c = {1};
  while (c.size() < kTerms) {
    double sum = 0;
    for (std::size_t m = 0; m < c.size(); ++m) {
      const auto k = static_cast<double>(m);
      sum += c[m] * c[c.size() - 1 - m] / ((k + 1) * (2 * k + 1));
    }
    c.push_back(sum);
  }
  Numbers coefficients;
  for (std::size_t k = 0; k < kTerms; ++k) {
    const auto odd = static_cast<double>(2 * k + 1);
    coefficients.push_back(c[k] / odd * std::pow(kRootOfPi / 2, odd));
  }
  return b.binary("Mul", y, polynomial(b, square_of(b, y), coefficients));
}

/// The z > 0 whose erfc is w < 1/2: Newton's method for the logarithm, which is nearly a parabola, from an estimate
/// good to 0.3 % (Winitzki, 2008).
Tensor inverse_erfc_tail(OpBuilder& b, const Tensor& w) {
  constexpr double kA = 0.147;
  constexpr int kSteps = 3;
  const Tensor log_w = b.unary("Log", w);
  const Tensor log = b.binary("Add", log_w, b.unary("Log", number_with(b, "Sub", 2, w)));
  const Tensor half = with_number(b, "Add", with_number(b, "Mul", log, 0.5), 2 / (pi * kA));
  const Tensor root = b.unary("Sqrt", b.binary("Sub", square_of(b, half), with_number(b, "Div", log, kA)));
  Tensor z = b.unary("Sqrt", b.binary("Sub", root, half));
  for (int i = 0; i < kSteps; ++i) {
    const Tensor scaled = erfcx_of_positive(b, z);
    const Tensor log_erfc = b.binary("Sub", b.unary("Log", scaled), square_of(b, z));
    const Tensor slope = with_number(b, "Mul", scaled, kRootOfPi / 2);
    z = b.binary("Add", z, b.binary("Mul", b.binary("Sub", log_erfc, log_w), slope));
  }
  return z;
}

/// The inverse of erf at y, where `w` is 1 - |y|, perhaps more exactly than y can say.
Tensor inverse_erf_at(OpBuilder& b, const Tensor& y, const Tensor& w) {
  const Tensor tail = inverse_erfc_tail(b, w);
  const Tensor below = compare_number(b, "Less", y, 0);
  const Tensor infinite = b.where(below, number(b, -kInfinity), number(b, kInfinity));
  return piecewise(b,
                   {{compare_number(b, "Less", w, 0), number(b, kNotANumber)},
                    {compare_number(b, "Equal", w, 0), infinite},
                    {compare_number(b, "Less", w, 0.5), b.where(below, negated(b, tail), tail)}},
                   inverse_erf_series(b, y));
}

Tensor inverse_erf(OpBuilder& b, const Tensor& y) {
  return inverse_erf_at(b, y, number_with(b, "Sub", 1, b.unary("Abs", y)));
}

Tensor inverse_normal_cdf(OpBuilder& b, const Tensor& p) {
  const Tensor rest = number_with(b, "Sub", 1, p);
  const Tensor w = with_number(b, "Mul", b.binary("Min", p, rest), 2);
  const Tensor y = b.binary("Sub", p, rest);
  return with_number(b, "Mul", inverse_erf_at(b, y, w), std::numbers::sqrt2);
}

/// ONNX Runtime's own Erf wherever it has one.
void erf(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  if (dtype == DType::kFloat64) return special_unary<erf_accurate>(b);
  b.bind(b.unary("Erf", b.operand("self", dtype)));
}

constexpr std::array kSpecialErrorOps = {
    EmitEntry{"aten::erf", erf},
    EmitEntry{"aten::erfc", special_unary<erfc_accurate>},
    EmitEntry{"aten::erfinv", special_unary<inverse_erf>},
    EmitEntry{"aten::special_erf", erf},
    EmitEntry{"aten::special_erfc", special_unary<erfc_accurate>},
    EmitEntry{"aten::special_erfcx", special_unary<erfcx>},
    EmitEntry{"aten::special_erfinv", special_unary<inverse_erf>},
    EmitEntry{"aten::special_log_ndtr", special_unary<log_normal_cdf>},
    EmitEntry{"aten::special_ndtr", special_unary<normal_cdf>},
    EmitEntry{"aten::special_ndtri", special_unary<inverse_normal_cdf>},
};

}  // namespace

Tensor erfcx(OpBuilder& b, const Tensor& x) {
  const Tensor right = erfcx_of_positive(b, b.unary("Abs", x));
  const Tensor growth = with_number(b, "Mul", b.unary("Exp", square_of(b, x)), 2);
  return b.where(compare_number(b, "Less", x, 0), b.binary("Sub", growth, right), right);
}

Tensor erfc_accurate(OpBuilder& b, const Tensor& x) {
  const Tensor decay = b.unary("Exp", negated(b, square_of(b, x)));
  const Tensor right = b.binary("Mul", decay, erfcx_of_positive(b, b.unary("Abs", x)));
  return b.where(compare_number(b, "Less", x, 0), number_with(b, "Sub", 2, right), right);
}

/// DLMF 7.6.1 near zero, where the difference from one would lose digits.
Tensor erf_accurate(OpBuilder& b, const Tensor& x) {
  constexpr int kTerms = 16;
  Numbers coefficients;
  double factorial = 1;
  for (int k = 0; k < kTerms; ++k) {
    coefficients.push_back(2 / kRootOfPi / (factorial * (2 * k + 1)));
    factorial *= -(k + 1);
  }
  const Tensor series = b.binary("Mul", x, polynomial(b, square_of(b, x), coefficients));
  return b.where(compare_number(b, "Less", b.unary("Abs", x), 0.75), series,
                 number_with(b, "Sub", 1, erfc_accurate(b, x)));
}

EmitEntries special_error_ops() { return kSpecialErrorOps; }

}  // namespace leapp::onnx_ops
