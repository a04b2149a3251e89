// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/nn/normalisation.h"
#include "emit/onnx/ops/nn/resize.h"
#include "emit/onnx/ops/nn/sampling.h"

namespace leapp::onnx_ops {
namespace {

enum class Interpolation : std::uint8_t { kLinear, kNearest, kCubic };
enum class Outside : std::uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Interpolation interpolation = Interpolation::kLinear;
  Outside outside = Outside::kZeros;
  bool align_corners = false;
};

Sampling sampling_arguments(OpBuilder& b) {
  const std::int64_t interpolation = b.integer("interpolation_mode");
  const std::int64_t outside = b.integer("padding_mode");
  if (interpolation < 0 || interpolation > 2 || outside < 0 || outside > 2) b.fault("expected modes from 0 to 2");
  return {static_cast<Interpolation>(interpolation), static_cast<Outside>(outside), b.flag("align_corners")};
}

Attributes sampling_attributes(const OpBuilder& b, const Sampling& s) {
  static constexpr std::array kOld = {"bilinear", "nearest", "bicubic"};
  static constexpr std::array kNew = {"linear", "nearest", "cubic"};
  static constexpr std::array kOutside = {"zeros", "border", "reflection"};
  const auto mode = static_cast<std::size_t>(s.interpolation);
  return {{"align_corners", std::int64_t{s.align_corners}},
          {"mode", std::string(b.opset() >= 20 ? kNew.at(mode) : kOld.at(mode))},
          {"padding_mode", std::string(kOutside.at(static_cast<std::size_t>(s.outside)))}};
}

bool has_operator(const OpBuilder& b, const Tensor& x, const Sampling& s) {
  if (x.dtype != DType::kFloat32) return false;
  if (x.rank() == 4) return b.opset() >= 16;
  return b.opset() >= 20 && s.interpolation != Interpolation::kCubic;
}

// ---- spelled out ----

/// From -1..1 to positions.
Tensor position_of(OpBuilder& b, const Tensor& coordinate, std::int64_t size, bool align_corners) {
  const auto count = static_cast<double>(size);
  const Tensor moved = with_number(b, "Add", coordinate, 1);
  if (align_corners) return with_number(b, "Mul", moved, (count - 1) / 2);
  return with_number(b, "Div", with_number(b, "Sub", with_number(b, "Mul", moved, count), 1), 2);
}

/// Back and forth between the first and the last element.
Tensor reflected(OpBuilder& b, const Tensor& position, std::int64_t size, bool align_corners) {
  const auto count = static_cast<double>(size);
  const double low = align_corners ? 0 : -0.5;
  const double span = align_corners ? count - 1 : count;
  if (span == 0) return b.binary("Mul", position, b.constant(0.0, position.dtype));
  const Tensor distance = b.unary("Abs", with_number(b, "Sub", position, low));
  const Tensor turns = b.unary("Floor", with_number(b, "Div", distance, span));
  const Tensor rest = b.binary("Sub", distance, with_number(b, "Mul", turns, span));
  const Tensor half = with_number(b, "Div", turns, 2);
  const Tensor even = b.compare("Equal", b.unary("Floor", half), half);
  const Tensor there = with_number(b, "Add", rest, low);
  const Tensor back = number_with(b, "Sub", span + low, rest);
  return clip_position(b, b.where(even, there, back), size);
}

Tensor brought_inside(OpBuilder& b, const Tensor& position, std::int64_t size, const Sampling& s) {
  if (s.outside == Outside::kZeros) return position;
  if (s.outside == Outside::kBorder) return clip_position(b, position, size);
  return reflected(b, position, size, s.align_corners);
}

Tensor cubic_near(OpBuilder& b, const Tensor& x) {
  // (1.25 x - 2.25) x x + 1
  const Tensor inner = with_number(b, "Sub", with_number(b, "Mul", x, 1.25), 2.25);
  return with_number(b, "Add", b.binary("Mul", b.binary("Mul", inner, x), x), 1);
}

Tensor cubic_far(OpBuilder& b, const Tensor& x) {
  // ((-0.75 x + 3.75) x - 6) x + 3
  const Tensor first = with_number(b, "Add", with_number(b, "Mul", x, -0.75), 3.75);
  const Tensor second = with_number(b, "Sub", b.binary("Mul", first, x), 6);
  return with_number(b, "Add", b.binary("Mul", second, x), 3);
}

SampleTaps cubic_taps(OpBuilder& b, const Tensor& position, std::int64_t size, const Sampling& s) {
  const Tensor first = b.unary("Floor", position);
  const Tensor t = b.binary("Sub", position, first);
  const Tensor rest = number_with(b, "Sub", 1, t);
  const Tensors weights = {cubic_far(b, with_number(b, "Add", t, 1)), cubic_near(b, t), cubic_near(b, rest),
                           cubic_far(b, with_number(b, "Add", rest, 1))};
  SampleTaps taps;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Tensor place = with_number(b, "Add", first, static_cast<double>(i) - 1);
    taps.push_back({brought_inside(b, place, size, s), weights[i]});
  }
  return taps;
}

SampleTaps taps_of(OpBuilder& b, const Tensor& coordinate, std::int64_t size, const Sampling& s) {
  const Tensor raw = position_of(b, coordinate, size, s.align_corners);
  if (s.interpolation == Interpolation::kCubic) return cubic_taps(b, raw, size, s);
  const Tensor position = brought_inside(b, raw, size, s);
  if (s.interpolation == Interpolation::kNearest) return {{b.unary("Round", position), {}}};
  return neighbours_of(b, position);
}

Tensor sample(OpBuilder& b, const Tensor& x, const Tensor& grid, const Sampling& s) {
  const std::int64_t dims = x.rank() - 2;
  const std::int64_t batch = x.size(0);
  const std::int64_t places = grid.elements() / (batch * dims);
  std::vector<SampleTaps> taps;
  for (std::int64_t i = 0; i < dims; ++i) {
    // The grid names the last dimension first.
    const Tensor coordinate = b.reshape(b.select(grid, -1, dims - 1 - i), {batch, 1, places});
    taps.push_back(taps_of(b, coordinate, x.size(i + 2), s));
  }
  return b.reshape(sample_at(b, x, taps), b.result().shape);
}

/// The centres of `size` elements between -1 and 1; with align_corners the first and the last stand at the ends.
double centre(std::int64_t index, std::int64_t size, bool align_corners) {
  if (size <= 1) return 0;
  const double even = -1 + 2 * static_cast<double>(index) / static_cast<double>(size - 1);
  return align_corners ? even : even * static_cast<double>(size - 1) / static_cast<double>(size);
}

}  // namespace

void grid_sample(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor x = b.operand("input", dtype);
  const Tensor grid = b.operand("grid", dtype);
  const Sampling s = sampling_arguments(b);
  if (!b.ok()) return;
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  const Tensor value = has_operator(b, x, s)
                           ? b.add("GridSample", {x, grid}, {dtype, b.result().shape}, sampling_attributes(b, s))
                           : sample(b, x, grid, s);
  b.bind(b.cast(value, b.result().dtype));
}

void affine_grid(OpBuilder& b) {
  const Tensor theta = b.tensor("theta");
  const Ints size = b.integers("size");
  const bool align = b.flag("align_corners");
  const Shape plane(size.begin() + 2, size.end());
  const std::int64_t dims = std::ssize(plane);
  const std::int64_t places = graph::element_count(plane);
  std::vector<Scalar> base;  // [places, dims + 1]: the last dimension first, then 1
  for (std::int64_t place = 0; place < places; ++place) {
    std::int64_t rest = place;
    for (std::int64_t i = dims - 1; i >= 0; --i) {
      const std::int64_t along = plane[static_cast<std::size_t>(i)];
      base.emplace_back(centre(rest % along, along, align));
      rest /= along;
    }
    base.emplace_back(1.0);
  }
  const Tensor grid = b.constant(base, {theta.dtype, {places, dims + 1}});
  b.bind(b.reshape(b.matmul(grid, b.transpose(theta, {0, 2, 1})), b.result().shape));
}

}  // namespace leapp::onnx_ops
