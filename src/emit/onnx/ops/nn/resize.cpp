// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// One resized dimension.
struct Axis {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::optional<double> factor;  // as the user gave it: torch then steps by its inverse, not by in / out
  bool align_corners = false;

  [[nodiscard]] double step() const {
    if (align_corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
    if (factor && *factor > 0) return 1.0 / *factor;
    return static_cast<double>(in) / static_cast<double>(out);
  }
};

std::optional<double> number_or_none(OpBuilder& b, std::string_view name) {
  if (!b.has(name)) return std::nullopt;
  return b.number(name);
}

std::vector<std::optional<double>> factors(OpBuilder& b, std::int64_t dims) {
  std::vector<std::optional<double>> list(static_cast<std::size_t>(dims));
  if (const graph::Attribute* given = b.node().find("scale_factors")) {
    const auto* numbers = std::get_if<std::vector<double>>(given);
    for (std::size_t i = 0; numbers != nullptr && i < std::min(list.size(), numbers->size()); ++i) {
      list[i] = (*numbers)[i];
    }
    return list;
  }
  if (dims == 1) return {number_or_none(b, "scales")};
  list[list.size() - 1] = number_or_none(b, "scales_w");
  list[list.size() - 2] = number_or_none(b, "scales_h");
  if (dims == 3) list[0] = number_or_none(b, "scales_d");
  return list;
}

Tensor source(OpBuilder& b) { return b.operand(b.has("self") ? "self" : "input", b.result().dtype); }

std::vector<Axis> axes_of(OpBuilder& b, const Tensor& x) {
  const std::int64_t dims = x.rank() - 2;
  const bool align = b.has("align_corners") && b.flag("align_corners");
  const auto given = factors(b, dims);
  std::vector<Axis> axes;
  for (std::int64_t i = 0; i < dims; ++i) {
    const auto index = static_cast<std::size_t>(i);
    axes.push_back({x.size(i + 2), b.result().shape[index + 2], given[index], align});
  }
  return axes;
}

// ---- nearest ----

/// As torch computes it, in float32.
Ints nearest_positions(const Axis& axis, bool exact) {
  const auto step = static_cast<float>(axis.step());
  Ints positions;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const float place = exact ? (static_cast<float>(i) + 0.5F) * step : static_cast<float>(i) * step;
    std::int64_t position = std::min(static_cast<std::int64_t>(std::floor(place)), axis.in - 1);
    if (!exact && axis.out == axis.in) position = i;
    if (!exact && axis.out == 2 * axis.in) position = i / 2;
    positions.push_back(position);
  }
  return positions;
}

/// Every element the same number of times: where all ways of rounding agree.
bool repeats_evenly(const Axis& axis, const Ints& positions) {
  if (axis.out % axis.in != 0) return false;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    if (positions[static_cast<std::size_t>(i)] != i / (axis.out / axis.in)) return false;
  }
  return true;
}

Tensor resize_node(OpBuilder& b, const Tensor& x, const Shape& shape, Attributes attributes) {
  return b.add("Resize", {x, {}, {}, b.ints(shape)}, {x.dtype, shape}, std::move(attributes));
}

// ---- weighted sums ----

/// For one dimension: for every output a number of positions, and their weights.
struct Taps {
  std::int64_t width = 0;
  Ints positions;               // [out, width]
  std::vector<Scalar> weights;  // [out, width]
};

double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

Taps linear_taps(const Axis& axis) {
  Taps taps{2, {}, {}};
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const auto place = static_cast<double>(i);
    const double real = axis.align_corners ? place * axis.step() : std::max((place + 0.5) * axis.step() - 0.5, 0.0);
    const std::int64_t first = std::min(static_cast<std::int64_t>(real), axis.in - 1);
    const double rest = std::clamp(real - static_cast<double>(first), 0.0, 1.0);
    taps.positions.insert(taps.positions.end(), {first, std::min(first + 1, axis.in - 1)});
    taps.weights.insert(taps.weights.end(), {Scalar(1 - rest), Scalar(rest)});
  }
  return taps;
}

Taps cubic_taps(const Axis& axis) {
  constexpr double kA = -0.75;
  Taps taps{4, {}, {}};
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const auto place = static_cast<double>(i);
    const double real = axis.align_corners ? place * axis.step() : (place + 0.5) * axis.step() - 0.5;
    const double first = std::floor(real);
    const double t = real - first;
    for (std::int64_t tap = -1; tap <= 2; ++tap) {
      const auto position = static_cast<std::int64_t>(first) + tap;
      taps.positions.push_back(std::clamp<std::int64_t>(position, 0, axis.in - 1));
    }
    taps.weights.insert(taps.weights.end(), {Scalar(cubic_far(t + 1, kA)), Scalar(cubic_near(t, kA)),
                                             Scalar(cubic_near(1 - t, kA)), Scalar(cubic_far(2 - t, kA))});
  }
  return taps;
}

double sinc(double x) { return x == 0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

struct Filter {
  double support = 1;
  double (*weight)(double) = nullptr;
};

Filter filter_of(const std::string& mode) {
  if (mode == "linear") {
    return {1, [](double x) { return std::max(1 - std::abs(x), 0.0); }};
  }
  if (mode == "cubic") {
    return {2, [](double x) {
              const double size = std::abs(x);
              if (size < 1) return cubic_near(size, -0.5);
              return size < 2 ? cubic_far(size, -0.5) : 0.0;
            }};
  }
  return {3, [](double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0.0; }};
}

/// A filter as wide as the step, when it is more than one element. In the arithmetic of `Real`, as torch: the weights
/// of a steep filter differ visibly between float and double.
template <typename Real>
Taps antialiased_taps(const Axis& axis, const Filter& filter) {
  const auto step = static_cast<Real>(axis.step());
  const Real stretch = std::max(step, Real{1});
  const Real support = static_cast<Real>(filter.support) * stretch;
  constexpr auto kHalf = static_cast<Real>(0.5);
  Taps taps;
  taps.width = std::min(static_cast<std::int64_t>(std::ceil(support)) * 2 + 1, axis.in);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const Real centre = step * (static_cast<Real>(i) + kHalf);
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + kHalf), 0);
    const auto end = std::min(static_cast<std::int64_t>(centre + support + kHalf), axis.in);
    std::vector<Real> weights;
    Real total = 0;
    for (std::int64_t j = 0; j < taps.width; ++j) {
      const Real place = (static_cast<Real>(j) + (static_cast<Real>(first) - centre) + kHalf) * (Real{1} / stretch);
      weights.push_back(first + j < end ? static_cast<Real>(filter.weight(place)) : Real{0});
      total += weights.back();
      taps.positions.push_back(std::min(first + j, axis.in - 1));
    }
    for (const Real weight : weights) taps.weights.emplace_back(double{total == 0 ? weight : weight / total});
  }
  return taps;
}

/// Replaces dimension `dim` by weighted sums of its elements.
Tensor apply_taps(OpBuilder& b, const Tensor& x, const Taps& taps, std::int64_t dim) {
  const std::int64_t out = std::ssize(taps.positions) / taps.width;
  const Tensor seen = b.gather(x, b.ints(taps.positions, {out, taps.width}), dim);
  Shape shape(static_cast<std::size_t>(seen.rank() - dim), 1);
  shape[0] = out;
  shape[1] = taps.width;
  return b.reduce("ReduceSum", b.binary("Mul", seen, b.constant(taps.weights, {x.dtype, shape})), {dim + 1}, false);
}

DType compute_in(DType dtype) { return dtype == DType::kFloat64 ? dtype : DType::kFloat32; }

/// Resize says the same thing: float32, and the step is what it works out from the sizes.
bool resize_agrees(const std::vector<Axis>& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) {
    if (axis.align_corners || !axis.factor) return true;
    return std::abs(axis.step() * static_cast<double>(axis.out) - static_cast<double>(axis.in)) < 1e-9;
  });
}

}  // namespace

void resize_nearest(OpBuilder& b) {
  const Tensor x = source(b);
  const std::vector<Axis> axes = axes_of(b, x);
  const bool exact = b.onnx_op() == "exact";
  std::vector<Ints> positions;
  bool even = x.dtype == DType::kFloat32;
  for (const Axis& axis : axes) {
    positions.push_back(nearest_positions(axis, exact));
    even = even && repeats_evenly(axis, positions.back());
  }
  if (even && x.rank() == 4) {
    return b.bind(resize_node(b, x, b.result().shape,
                              {{"coordinate_transformation_mode", std::string("asymmetric")},
                               {"mode", std::string("nearest")},
                               {"nearest_mode", std::string("floor")}}));
  }
  Tensor value = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (positions[i] != iota(axes[i].in))
      value = b.gather(value, b.ints(positions[i]), static_cast<std::int64_t>(i) + 2);
  }
  b.bind(value);
}

void resize_smooth(OpBuilder& b) {
  const Tensor given = source(b);
  if (!is_floating(given.dtype)) return b.refuse("smooth interpolation of integers rounds; cast to float32 before");
  const Tensor x = b.cast(given, compute_in(given.dtype));
  const std::vector<Axis> axes = axes_of(b, x);
  const bool cubic = b.onnx_op() == "cubic";
  if (x.dtype == DType::kFloat32 && x.rank() == 4 && resize_agrees(axes)) {
    const Tensor value = resize_node(
        b, x, b.result().shape,
        {{"coordinate_transformation_mode", std::string(axes[0].align_corners ? "align_corners" : "half_pixel")},
         {"mode", b.onnx_op()}});
    return b.bind(b.cast(value, given.dtype));
  }
  Tensor value = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].in == axes[i].out && axes[i].step() == 1) continue;
    value = apply_taps(b, value, cubic ? cubic_taps(axes[i]) : linear_taps(axes[i]), static_cast<std::int64_t>(i) + 2);
  }
  b.bind(b.cast(value, given.dtype));
}

void resize_antialiased(OpBuilder& b) {
  const Tensor given = source(b);
  if (!is_floating(given.dtype)) return b.refuse("smooth interpolation of integers rounds; cast to float32 before");
  Tensor value = b.cast(given, compute_in(given.dtype));
  const std::vector<Axis> axes = axes_of(b, value);
  const Filter filter = filter_of(b.onnx_op());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].in == axes[i].out && axes[i].step() == 1) continue;
    const Taps taps = value.dtype == DType::kFloat64 ? antialiased_taps<double>(axes[i], filter)
                                                     : antialiased_taps<float>(axes[i], filter);
    value = apply_taps(b, value, taps, static_cast<std::int64_t>(i) + 2);
  }
  b.bind(b.cast(value, given.dtype));
}

}  // namespace leapp::onnx_ops
