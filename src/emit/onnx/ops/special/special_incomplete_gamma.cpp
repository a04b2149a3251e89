// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The regularised incomplete gamma functions P and Q of a and x.
//
// With t = x e^(+-v) the integral of t^(a-1) e^-t from x up, or from x down, becomes x^a e^-x times the integral over
// v > 0 of exp(+-a v - x (e^(+-v) - 1)). Above the peak at t = a we go up, which gives Q, else down, which gives P: the
// integrand falls either way, and one rule serves all a and x.
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

using std::numbers::pi;

/// Nodes and weights over v > 0 for what falls like e^-v: v = exp(t - e^-t) (Takahasi and Mori, 1974).
struct HalfLine {
  Numbers nodes;
  Numbers weights;
};

HalfLine half_line() {
  constexpr double kStep = 0.1;
  HalfLine rule;
  for (int i = -36; i <= 38; ++i) {
    const double t = kStep * i;
    rule.nodes.push_back(std::exp(t - std::exp(-t)));
    rule.weights.push_back(kStep * rule.nodes.back() * (1 + std::exp(-t)));
  }
  return rule;
}

/// The logarithm of x^a e^-x / gamma(a). For large a, the large terms of Stirling's series cancel by hand.
Tensor log_factor(OpBuilder& b, const Tensor& a, const Tensor& x) {
  constexpr double kLarge = 30;
  const Tensor power = b.binary("Sub", b.binary("Mul", a, b.unary("Log", x)), x);
  const Tensor plain = b.binary("Sub", power, log_gamma(b, a));
  const Tensor apart = b.binary("Div", b.binary("Sub", x, a), a);
  const Tensor depth = b.binary("Mul", a, b.binary("Sub", apart, log_of_one_plus(b, apart)));
  const Tensor height = with_number(b, "Mul", b.unary("Log", with_number(b, "Mul", a, 0.5 / pi)), 0.5);
  const Tensor large = b.binary("Sub", b.binary("Sub", height, stirling_tail(b, a)), depth);
  return b.where(compare_number(b, "Greater", a, kLarge), large, plain);
}

struct OneSide {
  Tensor upper;  ///< bool: `value` is Q, else P
  Tensor value;
};

OneSide one_side(OpBuilder& b, const Tensor& a, const Tensor& x) {
  const Tensor upper = b.binary("And", b.compare("GreaterOrEqual", x, a), compare_number(b, "GreaterOrEqual", x, 1));
  const Tensor apart = b.binary("Sub", x, a);
  const Tensor width = b.unary("Sqrt", x);
  const Tensor below = b.binary("Add", b.unary("Relu", negated(b, apart)), b.binary("Min", width, a));
  const Tensor rate = b.where(upper, b.binary("Add", apart, width), below);
  const HalfLine rule = half_line();
  const Tensor sign = b.where(upper, number(b, 1), number(b, -1));
  const Tensor v = b.binary("Div", numbers(b, rule.nodes), with_nodes(b, b.binary("Mul", sign, rate)));
  const Tensor rise = b.binary("Mul", with_nodes(b, a), v);
  const Tensor fall = b.binary("Mul", with_nodes(b, x), exp_minus_one(b, v));
  const Tensor integral = weighted_sum(b, b.unary("Exp", b.binary("Sub", rise, fall)), rule.weights);
  const Tensor factor = b.unary("Exp", log_factor(b, a, x));
  return {upper, b.binary("Mul", factor, b.binary("Div", integral, rate))};
}

/// P, or Q = 1 - P, with torch's values on the border of the domain.
void incomplete_gamma(OpBuilder& b) {
  const Tensor a = special_argument(b, "self");
  const Tensor x = special_argument(b, "other");
  const bool lower = b.onnx_op() == "lower";
  const OneSide side = one_side(b, a, x);
  const Tensor rest = number_with(b, "Sub", 1, side.value);
  const Tensor regular = lower ? b.where(side.upper, rest, side.value) : b.where(side.upper, side.value, rest);
  const auto negative = [&](const Tensor& t) { return compare_number(b, "Less", t, 0); };
  const Tensor nothing = number(b, lower ? 0 : 1);
  const Tensor all = number(b, lower ? 1 : 0);
  const Tensor nan = number(b, kNotANumber);
  const Tensor positive = compare_number(b, "Greater", x, 0);
  bind_special(b, piecewise(b,
                            {{b.binary("Or", negative(a), negative(x)), nan},
                             {compare_number(b, "Equal", a, 0), b.where(positive, all, nan)},
                             {compare_number(b, "Equal", x, 0), nothing},
                             {is_inf(b, a), b.where(is_inf(b, x), nan, nothing)},
                             {is_inf(b, x), all}},
                            regular));
}

constexpr std::array kSpecialIncompleteGammaOps = {
    EmitEntry{"aten::igamma", incomplete_gamma, "lower"},
    EmitEntry{"aten::igammac", incomplete_gamma, "upper"},
    EmitEntry{"aten::special_gammainc", incomplete_gamma, "lower"},
    EmitEntry{"aten::special_gammaincc", incomplete_gamma, "upper"},
};

}  // namespace

EmitEntries special_incomplete_gamma_ops() { return kSpecialIncompleteGammaOps; }

}  // namespace leapp::onnx_ops
