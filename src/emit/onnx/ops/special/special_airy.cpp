// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

using std::numbers::pi;

constexpr double kEndOfAirySeries = 3;

/// DLMF 9.4.1
Tensor airy_series(OpBuilder& b, const Tensor& x) {
  constexpr int kMost = 22;
  const double third = 1.0 / 3;
  Numbers even = {std::pow(3, -2 * third) / std::tgamma(2 * third)};
  Numbers odd = {-std::pow(3, -third) / std::tgamma(third)};
  for (int k = 1; k < kMost; ++k) {
    even.push_back(even.back() / (3 * k * (3 * k - 1)));
    odd.push_back(odd.back() / (3 * k * (3 * k + 1)));
  }
  const Tensor cube = b.binary("Mul", x, b.binary("Mul", x, x));
  return b.binary("Add", polynomial(b, cube, even), b.binary("Mul", x, polynomial(b, cube, odd)));
}

/// For |x| > kEndOfAirySeries. Ai(x) is e^-z / (pi x^(1/4)) times the integral over s > 0 of
/// e^(-s^2) cos(s^3 / (3 x^(3/4))), z = (2/3) x^(3/2); Ai(-x) is twice the real part of e^(i pi/3 - i z) times the
/// same with e^(-s^2 e^(i pi/6)): DLMF 9.5.8 and 9.2.14.
Tensor airy_integral(OpBuilder& b, const Tensor& x) {
  const Trapezoid rule = trapezoid(0.25, 7);
  const double slant = std::numbers::sqrt3 / 2;
  Numbers cubes;
  Numbers decay;
  Numbers real;
  Numbers imaginary;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double s = rule.nodes[i];
    const double weight = 0.5 * rule.weights[i] / pi;
    cubes.push_back(s * s * s / 3);
    decay.push_back(weight * std::exp(-s * s));
    real.push_back(2 * weight * std::exp(-slant * s * s) * std::cos(s * s / 2));
    imaginary.push_back(-2 * weight * std::exp(-slant * s * s) * std::sin(s * s / 2));
  }
  const Tensor size = b.unary("Abs", x);
  const Tensor root = b.unary("Sqrt", size);
  const Tensor fourth_root = b.unary("Sqrt", root);
  const Tensor z = with_number(b, "Mul", b.binary("Mul", size, root), 2.0 / 3);
  const Tensor stretch = b.binary("Mul", root, fourth_root);
  const Tensor terms = b.unary("Cos", b.binary("Div", numbers(b, cubes), with_nodes(b, stretch)));
  const Tensor falling = b.binary("Mul", weighted_sum(b, terms, decay), b.unary("Exp", negated(b, z)));
  // As torch rounds it: of a large x that is all that matters.
  const Tensor turn = rounded(b, [&](DType dtype) {
    const Tensor y = b.cast(size, dtype);
    const Tensor product = b.binary("Mul", with_number(b, "Mul", y, 2), b.unary("Sqrt", y));
    return with_number(b, "Add", with_number(b, "Div", product, 3), pi / 4);
  });
  const Tensor angle = number_with(b, "Sub", pi / 3 + pi / 4, turn);
  const Tensor swinging = b.binary("Sub", b.binary("Mul", b.unary("Cos", angle), weighted_sum(b, terms, real)),
                                   b.binary("Mul", b.unary("Sin", angle), weighted_sum(b, terms, imaginary)));
  return b.binary("Div", b.where(compare_number(b, "Less", x, 0), swinging, falling), fourth_root);
}

Tensor airy_ai(OpBuilder& b, const Tensor& x) {
  constexpr double kTorchEnd = 103.892;
  return piecewise(b,
                   {{is_inf(b, x), number(b, kNotANumber)},
                    {compare_number(b, "Greater", x, kTorchEnd), number(b, 0)},
                    {compare_number(b, "LessOrEqual", b.unary("Abs", x), kEndOfAirySeries), airy_series(b, x)}},
                   airy_integral(b, x));
}

constexpr std::array kSpecialAiryOps = {
    EmitEntry{"aten::special_airy_ai", special_unary<airy_ai>},
};

}  // namespace

EmitEntries special_airy_ops() { return kSpecialAiryOps; }

}  // namespace leapp::onnx_ops
