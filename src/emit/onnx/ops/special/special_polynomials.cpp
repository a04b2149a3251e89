// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Orthogonal polynomials by their three-term recurrences (DLMF 18.9.1), in the result's dtype as torch, so that they
// overflow where torch's do. The degree is data: it is unrolled where it is known and small, and else a loop.
#include <algorithm>
#include <array>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/pointwise/elementary.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

constexpr std::int64_t kMostUnrolled = 16;

/// constant + slope * (something)
struct Line {
  double constant = 0;
  double slope = 0;
};

/// P_0 = 1, P_1 = first(x), P_(k+1) = ((factor(k) x + added(k)) P_k - before(k) P_(k-1)) / (k + 1), or not divided.
struct Recurrence {
  Line first;
  Line factor;
  Line added;
  Line before;
  bool divided = false;
  bool hermite = false;  ///< torch gives NaN above a degree
};

constexpr Recurrence kHermiteH = {{0, 2}, {2, 0}, {0, 0}, {0, 2}, false, true};
constexpr Recurrence kHermiteHe = {{0, 1}, {1, 0}, {0, 0}, {0, 1}, false, true};
constexpr Recurrence kLaguerre = {{1, -1}, {-1, 0}, {1, 2}, {0, 1}, true};
constexpr Recurrence kLegendre = {{0, 1}, {1, 2}, {0, 0}, {0, 1}, true};

/// Chebyshev polynomials: of cos(t), f((n + shift) t) / f(part t), f the sine or cosine, or not divided if part is 0.
struct Chebyshev {
  Line first;
  bool sine = false;
  double shift = 0;
  double part = 0;
  bool grows_at_one = false;  ///< the value at 1, at -1: (n + shift) / part, but for the sign, and else 1
  bool grows_at_minus_one = false;
  bool of_unit_interval = false;  ///< of 2 x - 1

  [[nodiscard]] constexpr Chebyshev shifted() const {
    Chebyshev other = *this;
    other.of_unit_interval = true;
    return other;
  }
};

constexpr Chebyshev kT = {{0, 1}, false, 0, 0, false, false};
constexpr Chebyshev kU = {{0, 2}, true, 1, 1, true, true};
constexpr Chebyshev kV = {{-1, 2}, false, 0.5, 0.5, false, true};
constexpr Chebyshev kW = {{1, 2}, true, 0.5, 0.5, true, false};
constexpr Chebyshev kShiftedT = kT.shifted();
constexpr Chebyshev kShiftedU = kU.shifted();
constexpr Chebyshev kShiftedV = kV.shifted();
constexpr Chebyshev kShiftedW = kW.shifted();

Tensor at(OpBuilder& b, const Line& line, const Tensor& x) {
  if (line.slope == 0) return b.constant(line.constant, x.dtype);
  const Tensor scaled = line.slope == 1 ? x : with_number(b, "Mul", x, line.slope);
  return line.constant == 0 ? scaled : with_number(b, "Add", scaled, line.constant);
}

bool is_zero(const Line& line) { return line.constant == 0 && line.slope == 0; }

struct State {
  Tensor x;
  Tensor before;  ///< P_(k-1)
  Tensor value;   ///< P_k
};

/// P_(k+1); `k` is 0-d, of x's dtype.
Tensor next(OpBuilder& b, const Recurrence& r, const Tensor& k, const State& state) {
  Tensor factor = b.binary("Mul", at(b, r.factor, k), state.x);
  if (!is_zero(r.added)) factor = b.binary("Add", factor, at(b, r.added, k));
  const Tensor product = b.binary("Mul", factor, state.value);
  const Tensor rest = b.binary("Mul", at(b, r.before, k), state.before);
  const Tensor difference = b.binary("Sub", product, rest);
  return r.divided ? b.binary("Div", difference, with_number(b, "Add", k, 1)) : difference;
}

struct Arguments {
  Tensor x;                             ///< expanded to the result's shape
  Tensor n;                             ///< int64
  std::optional<std::int64_t> highest;  ///< degree, if known
};

Arguments arguments(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor x = b.expand(b.operand("x", dtype), b.result().shape);
  const Tensor given = b.operand("n", dtype);
  Arguments made{x, b.cast(given, DType::kInt64), std::nullopt};
  const auto known = b.known_values(given);
  if (!known || known->empty()) return made;
  double highest = 0;
  for (const Scalar& degree : *known) highest = std::max(highest, to_double(degree));
  if (highest <= kMostUnrolled) made.highest = static_cast<std::int64_t>(highest);
  return made;
}

/// P_n where `looped`, for n >= 1; something else elsewhere.
Tensor recurrence(OpBuilder& b, const Recurrence& r, const Arguments& from, const Tensor& looped) {
  State state{from.x, b.full(1.0, from.x.type()), at(b, r.first, from.x)};
  if (from.highest) {
    for (std::int64_t k = 1; k < *from.highest; ++k) {
      const Tensor higher = next(b, r, b.constant(k, from.x.dtype), state);
      state.before = state.value;
      const Tensor reached = compare_number(b, "Less", from.n, static_cast<double>(k + 1));
      state.value = from.n.elements() == 1 ? higher : b.where(reached, state.value, higher);
    }
    return state.value;
  }
  const Tensor none = b.constant(std::int64_t{1}, DType::kInt64);
  const Tensor degree = b.expand(b.binary("Max", b.where(looped, from.n, none), none), from.x.shape);
  const Tensor trips = with_number(b, "Sub", b.reduce("ReduceMax", degree, {}, false), 1);
  const auto step = [&](const Tensor& round, const Tensors& values) -> Tensors {
    const State now{from.x, values[0], values[1]};
    const Tensor k = with_number(b, "Add", b.reshape(round, {}), 1);
    const Tensor higher = next(b, r, b.cast(k, now.x.dtype), now);
    return {now.value, b.where(b.compare("Less", k, degree), higher, now.value)};
  };
  return b.loop(trips, {state.before, state.value}, step)[1];
}

/// torch's values below degree one.
Tensor from_degree_zero(OpBuilder& b, const Arguments& from, const Tensor& value) {
  return piecewise(b,
                   {{compare_number(b, "Less", from.n, 0), b.constant(0.0, value.dtype)},
                    {compare_number(b, "Equal", from.n, 0), b.constant(1.0, value.dtype)}},
                   value);
}

template <const Recurrence& r>
void polynomial_of(OpBuilder& b) {
  const Arguments from = arguments(b);
  const double limit = from.x.dtype == DType::kFloat64 ? 512 : 128;
  const Tensor beyond = compare_number(b, "Greater", from.n, limit);
  const Tensor everywhere = b.constant(true, DType::kBool);
  Tensor value = recurrence(b, r, from, r.hermite ? b.logical_not(beyond) : everywhere);
  if (r.hermite && !from.highest) value = b.where(beyond, b.constant(kNotANumber, value.dtype), value);
  b.bind(from_degree_zero(b, from, value));
}

/// For |x| < 1.
Tensor chebyshev_inside(OpBuilder& b, const Chebyshev& c, const Tensor& x, const Tensor& degree) {
  const std::string wave = c.sine ? "Sin" : "Cos";
  const Tensor angle = arc_cosine(b, x);
  const Tensor value = b.unary(wave, b.binary("Mul", with_number(b, "Add", degree, c.shift), angle));
  return c.part == 0 ? value : b.binary("Div", value, b.unary(wave, with_number(b, "Mul", angle, c.part)));
}

/// For |x| = 1.
Tensor chebyshev_at_end(OpBuilder& b, const Chebyshev& c, const Tensor& x, const Tensor& degree) {
  const Tensor one = number(b, 1);
  const Tensor grown = with_number(b, "Div", with_number(b, "Add", degree, c.shift), c.part == 0 ? 1 : c.part);
  const Tensor low = c.grows_at_minus_one ? grown : one;
  const Tensor signed_low = b.where(is_even(b, degree), low, negated(b, low));
  return b.where(compare_number(b, "Greater", x, 0), c.grows_at_one ? grown : one, signed_low);
}

template <const Chebyshev& c>
void chebyshev(OpBuilder& b) {
  constexpr std::int64_t kFew = 6;  // torch, too, uses the recurrence for these everywhere
  Arguments from = arguments(b);
  if (c.of_unit_interval) from.x = with_number(b, "Sub", with_number(b, "Mul", from.x, 2), 1);
  const Recurrence r{c.first, {2, 0}, {0, 0}, {1, 0}};
  const bool few = from.highest && *from.highest <= kFew;
  const Tensor size = b.unary("Abs", from.x);
  const Tensor many = compare_number(b, "Greater", from.n, kFew);
  const Tensor bounded = b.binary("And", many, compare_number(b, "LessOrEqual", size, 1));
  Tensor value = recurrence(b, r, from, b.logical_not(bounded));
  if (!few) {
    const Tensor x = b.cast(from.x, DType::kFloat64);
    const Tensor degree = b.cast(from.n, DType::kFloat64);
    const Tensor wave = b.where(compare_number(b, "Equal", size, 1), chebyshev_at_end(b, c, x, degree),
                                chebyshev_inside(b, c, x, degree));
    value = b.where(bounded, b.cast(wave, value.dtype), value);
  }
  b.bind(from_degree_zero(b, from, value));
}

constexpr std::array kSpecialPolynomialOps = {
    EmitEntry{"aten::special_chebyshev_polynomial_t", chebyshev<kT>},
    EmitEntry{"aten::special_chebyshev_polynomial_t.n_scalar", chebyshev<kT>},
    EmitEntry{"aten::special_chebyshev_polynomial_t.x_scalar", chebyshev<kT>},
    EmitEntry{"aten::special_chebyshev_polynomial_u", chebyshev<kU>},
    EmitEntry{"aten::special_chebyshev_polynomial_u.n_scalar", chebyshev<kU>},
    EmitEntry{"aten::special_chebyshev_polynomial_u.x_scalar", chebyshev<kU>},
    EmitEntry{"aten::special_chebyshev_polynomial_v", chebyshev<kV>},
    EmitEntry{"aten::special_chebyshev_polynomial_v.n_scalar", chebyshev<kV>},
    EmitEntry{"aten::special_chebyshev_polynomial_v.x_scalar", chebyshev<kV>},
    EmitEntry{"aten::special_chebyshev_polynomial_w", chebyshev<kW>},
    EmitEntry{"aten::special_chebyshev_polynomial_w.n_scalar", chebyshev<kW>},
    EmitEntry{"aten::special_chebyshev_polynomial_w.x_scalar", chebyshev<kW>},
    EmitEntry{"aten::special_hermite_polynomial_h", polynomial_of<kHermiteH>},
    EmitEntry{"aten::special_hermite_polynomial_h.n_scalar", polynomial_of<kHermiteH>},
    EmitEntry{"aten::special_hermite_polynomial_h.x_scalar", polynomial_of<kHermiteH>},
    EmitEntry{"aten::special_hermite_polynomial_he", polynomial_of<kHermiteHe>},
    EmitEntry{"aten::special_hermite_polynomial_he.n_scalar", polynomial_of<kHermiteHe>},
    EmitEntry{"aten::special_hermite_polynomial_he.x_scalar", polynomial_of<kHermiteHe>},
    EmitEntry{"aten::special_laguerre_polynomial_l", polynomial_of<kLaguerre>},
    EmitEntry{"aten::special_laguerre_polynomial_l.n_scalar", polynomial_of<kLaguerre>},
    EmitEntry{"aten::special_laguerre_polynomial_l.x_scalar", polynomial_of<kLaguerre>},
    EmitEntry{"aten::special_legendre_polynomial_p", polynomial_of<kLegendre>},
    EmitEntry{"aten::special_legendre_polynomial_p.n_scalar", polynomial_of<kLegendre>},
    EmitEntry{"aten::special_legendre_polynomial_p.x_scalar", polynomial_of<kLegendre>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_t", chebyshev<kShiftedT>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_t.n_scalar", chebyshev<kShiftedT>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_t.x_scalar", chebyshev<kShiftedT>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_u", chebyshev<kShiftedU>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_u.n_scalar", chebyshev<kShiftedU>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_u.x_scalar", chebyshev<kShiftedU>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_v", chebyshev<kShiftedV>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_v.n_scalar", chebyshev<kShiftedV>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_v.x_scalar", chebyshev<kShiftedV>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_w", chebyshev<kShiftedW>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_w.n_scalar", chebyshev<kShiftedW>},
    EmitEntry{"aten::special_shifted_chebyshev_polynomial_w.x_scalar", chebyshev<kShiftedW>},
};

}  // namespace

EmitEntries special_polynomial_ops() { return kSpecialPolynomialOps; }

}  // namespace leapp::onnx_ops
