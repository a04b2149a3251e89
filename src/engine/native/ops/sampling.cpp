// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Images read between their pixels: Resize, whose places are known when loading, and GridSample, whose places are data.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"

namespace leapp::native {
namespace {

// --- Resize -----------------------------------------------------------------------------------------------------

void interpolate(const Taps& args) noexcept {
  for (std::int64_t outer = 0; outer < args.outer; ++outer) {
    for (std::int64_t o = 0; o < args.out; ++o) {
      float* y = args.y + (outer * args.out + o) * args.inner;
      for (std::int64_t t = 0; t < args.taps; ++t) {
        const float weight = args.weights[o * args.taps + t];
        const float* x = args.x + (outer * args.in + args.places[o * args.taps + t]) * args.inner;
        for (std::int64_t i = 0; i < args.inner; ++i) y[i] = (t == 0 ? 0.0F : y[i]) + weight * x[i];
      }
    }
  }
}
constexpr Kernel kInterpolate = kernel_of<&interpolate>("interpolate");

/// How an axis is stretched.
struct Stretch {
  std::string mode;
  std::string coordinates;
  std::string nearest;
  double cubic = -0.75;
  bool exclude_outside = false;
  double scale = 1;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

double source_place(const Stretch& s, std::int64_t o) {
  const auto at = static_cast<double>(o);
  if (s.coordinates == "asymmetric") return at / s.scale;
  if (s.coordinates == "align_corners") {
    return s.out == 1 ? 0 : at * static_cast<double>(s.in - 1) / static_cast<double>(s.out - 1);
  }
  if (s.coordinates == "pytorch_half_pixel") return s.out > 1 ? (at + 0.5) / s.scale - 0.5 : 0;
  if (s.coordinates == "half_pixel") return (at + 0.5) / s.scale - 0.5;
  refuse(fmt::format("coordinate_transformation_mode {}", quote(s.coordinates)));
}

double nearest_place(const Stretch& s, double place) {
  if (s.nearest == "floor") return std::floor(place);
  if (s.nearest == "ceil") return std::ceil(place);
  if (s.nearest == "round_prefer_ceil") return std::floor(place + 0.5);
  if (s.nearest == "round_prefer_floor") return std::ceil(place - 0.5);
  refuse(fmt::format("nearest_mode {}", quote(s.nearest)));
}

std::vector<double> cubic_weights(double t, double a) {
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

struct TapLists {
  std::vector<std::int64_t> places;
  std::vector<float> weights;
  std::int64_t taps = 1;
};

TapLists taps_of(const Stretch& s) {
  TapLists lists;
  lists.taps = s.mode == "nearest" ? 1 : s.mode == "linear" ? 2 : 4;
  for (std::int64_t o = 0; o < s.out; ++o) {
    const double place = source_place(s, o);
    double first = s.mode == "nearest" ? nearest_place(s, place) : std::floor(place);
    std::vector<double> weights = {1};
    if (s.mode == "linear") weights = {1 - (place - first), place - first};
    if (s.mode == "cubic") weights = cubic_weights(place - first, s.cubic);
    if (s.mode == "cubic") first -= 1;
    double total = 0;
    for (std::int64_t t = 0; t < lists.taps; ++t) {
      const double at = first + static_cast<double>(t);
      const bool inside = at >= 0 && at < static_cast<double>(s.in);
      if (s.exclude_outside && !inside) weights[static_cast<std::size_t>(t)] = 0;
      total += weights[static_cast<std::size_t>(t)];
      const double place_there = std::clamp(at, 0.0, static_cast<double>(s.in - 1));
      lists.places.push_back(std::isnan(place_there) ? 0 : static_cast<std::int64_t>(place_there));
    }
    for (const double weight : weights) {
      lists.weights.push_back(static_cast<float>(s.exclude_outside && total != 0 ? weight / total : weight));
    }
  }
  return lists;
}

ValueId stretched(Lowering& b, ValueId x, std::size_t axis, const Stretch& s) {
  const std::span<const std::int64_t> dims = b.shape(x);
  constexpr std::uint64_t kMostTaps = 4;
  b.expect_room(static_cast<std::uint64_t>(s.out) * kMostTaps * (sizeof(std::int64_t) + sizeof(float)));
  const TapLists lists = taps_of(s);
  Taps args;
  args.outer = product(dims.first(axis));
  args.inner = product(dims.subspan(axis + 1));
  args.in = s.in;
  args.out = s.out;
  args.taps = lists.taps;
  Shape shape = b.shape(x);
  shape[axis] = s.out;
  const ValueId y = b.make(DType::kFloat32, shape);
  const ValueId places = b.constant_ints(lists.places);
  const ValueId weights = b.constant(DType::kFloat32, {static_cast<std::int64_t>(lists.weights.size())},
                                     onnx::Bytes::copy_of(std::as_bytes(std::span(lists.weights))));
  CallMaker make(kInterpolate, args);
  b.add(make.read(args.x, x).read(args.places, places).read(args.weights, weights).write(args.y, y).take());
  return y;
}

void lower_resize(Lowering& b) {
  const ValueId given = b.input(0);
  ValueId x = as_float32(b, given);
  if (b.attr_int("antialias", 0) != 0 || b.has_attr("axes")) refuse("antialias or chosen axes");
  if (b.attr_string("keep_aspect_ratio_policy", "stretch") != "stretch") refuse("a kept aspect ratio");
  std::vector<double> scales;
  std::vector<std::int64_t> sizes;
  if (b.has_input(2) && b.elements(b.input(2)) > 0) scales = b.numbers(b.input(2), "scales");
  if (b.has_input(3)) sizes = b.ints(b.input(3), "sizes");
  if ((sizes.empty() ? scales.size() : sizes.size()) != b.shape(x).size()) refuse("one size for each axis expected");
  Stretch stretch;
  stretch.mode = b.attr_string("mode", "nearest");
  if (stretch.mode != "nearest" && stretch.mode != "linear" && stretch.mode != "cubic") refuse("another mode");
  stretch.coordinates = b.attr_string("coordinate_transformation_mode", "half_pixel");
  stretch.nearest = b.attr_string("nearest_mode", "round_prefer_floor");
  stretch.cubic = b.attr_float("cubic_coeff_a", -0.75F);
  stretch.exclude_outside = b.attr_int("exclude_outside", 0) != 0;
  for (std::size_t axis = 0; axis < b.shape(x).size(); ++axis) {
    stretch.in = b.shape(x)[axis];
    const auto extent = static_cast<double>(stretch.in);
    stretch.scale = sizes.empty() ? scales[axis] : static_cast<double>(sizes[axis]) / extent;
    if (!(stretch.scale > 0)) refuse("scales out of range");  // NaN too
    stretch.out = sizes.empty() ? static_cast<std::int64_t>(std::clamp(std::floor(extent * scales[axis]), -1.0, 1e9))
                                : sizes[axis];
    if (stretch.in < 1 || stretch.out < 1 || stretch.out > (1 << 24)) refuse("sizes out of range");
    if (stretch.scale == 1) continue;
    x = stretched(b, x, axis, stretch);
  }
  b.bind(0, x == given ? b.reshaped(x, b.shape(x)) : cast(b, x, b.dtype(given)));
}

// --- GridSample -------------------------------------------------------------------------------------------------

// What is no number, or far away, is outside of every image.
float tame(float place) noexcept { return place > -1e8F && place < 1e8F ? place : -1e8F; }

float reflected(float place, std::int64_t extent, bool corners) noexcept {
  const float low = corners ? 0.0F : -0.5F;
  const float span = static_cast<float>(extent) - (corners ? 1.0F : 0.0F);
  if (span <= 0) return 0;
  const float distance = std::fabs(place - low);
  const float rest = std::fmod(distance, span);
  const auto turns = static_cast<std::int64_t>(std::floor(distance / span));
  return turns % 2 == 0 ? rest + low : span - rest + low;
}

float within(float place, std::int64_t extent, const GridArgs& args) noexcept {
  if (args.beyond == Beyond::kZeros) return place;
  if (args.beyond == Beyond::kReflection) place = reflected(place, extent, args.corners);
  return std::clamp(place, 0.0F, static_cast<float>(extent - 1));
}

float source_of(float coordinate, std::int64_t extent, bool corners) noexcept {
  const auto size = static_cast<float>(extent);
  return tame(corners ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2);
}

float pixel(const float* plane, std::int64_t row, std::int64_t column, const GridArgs& args) noexcept {
  if (row < 0 || column < 0 || row >= args.in[0] || column >= args.in[1]) return 0;
  return plane[row * args.in[1] + column];
}

void cubic_coefficients(float t, float* weights) noexcept {
  constexpr float a = -0.75F;
  const auto near = [](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  weights[0] = far(t + 1);
  weights[1] = near(t);
  weights[2] = near(1 - t);
  weights[3] = far(2 - t);
}

float cubic_at(const float* plane, float row, float column, const GridArgs& args) noexcept {
  const float top = std::floor(row);
  const float left = std::floor(column);
  float down[4];
  float across[4];
  cubic_coefficients(row - top, down);
  cubic_coefficients(column - left, across);
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    float line = 0;
    for (int j = 0; j < 4; ++j) {
      const auto r = static_cast<std::int64_t>(within(top - 1 + static_cast<float>(i), args.in[0], args));
      const auto c = static_cast<std::int64_t>(within(left - 1 + static_cast<float>(j), args.in[1], args));
      line += across[j] * pixel(plane, r, c, args);
    }
    sum += down[i] * line;
  }
  return sum;
}

float linear_at(const float* plane, float row, float column, const GridArgs& args) noexcept {
  const auto top = static_cast<std::int64_t>(std::floor(row));
  const auto left = static_cast<std::int64_t>(std::floor(column));
  const float down = row - static_cast<float>(top);
  const float across = column - static_cast<float>(left);
  return (1 - down) * ((1 - across) * pixel(plane, top, left, args) + across * pixel(plane, top, left + 1, args)) +
         down * ((1 - across) * pixel(plane, top + 1, left, args) + across * pixel(plane, top + 1, left + 1, args));
}

float sample(const float* plane, float row, float column, const GridArgs& args) noexcept {
  if (args.between == Between::kCubic) return cubic_at(plane, row, column, args);
  row = within(row, args.in[0], args);
  column = within(column, args.in[1], args);
  if (args.between == Between::kLinear) return linear_at(plane, row, column, args);
  return pixel(plane, static_cast<std::int64_t>(std::nearbyint(row)), static_cast<std::int64_t>(std::nearbyint(column)),
               args);
}

void grid_sample(const GridArgs& args) noexcept {
  const std::int64_t places = args.out[0] * args.out[1];
  for (std::int64_t n = 0; n < args.batch; ++n) {
    for (std::int64_t i = 0; i < places; ++i) {
      const float* at = args.grid + (n * places + i) * 2;
      const float row = source_of(at[1], args.in[0], args.corners);
      const float column = source_of(at[0], args.in[1], args.corners);
      for (std::int64_t c = 0; c < args.channels; ++c) {
        const std::int64_t plane = n * args.channels + c;
        args.y[plane * places + i] = sample(args.x + plane * args.in[0] * args.in[1], row, column, args);
      }
    }
  }
}
constexpr Kernel kGridSample = kernel_of<&grid_sample>("grid sample");

void lower_grid_sample(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  const ValueId grid = as_float32(b, b.input(1));
  if (b.rank(x) != 4 || b.rank(grid) != 4 || b.shape(grid)[3] != 2 || b.shape(grid)[0] != b.shape(x)[0]) {
    refuse("expects an image and places in it");
  }
  GridArgs args;
  args.batch = b.shape(x)[0];
  args.channels = b.shape(x)[1];
  for (std::size_t i = 0; i < 2; ++i) {
    args.in[i] = b.shape(x)[2 + i];
    args.out[i] = b.shape(grid)[1 + i];
    if (args.in[i] < 1 || args.in[i] > (1 << 24)) refuse("extents out of range");
  }
  const std::string mode = b.attr_string("mode", "linear");
  const bool cubic = mode == "cubic" || mode == "bicubic";
  if (!cubic && mode != "linear" && mode != "bilinear" && mode != "nearest") refuse("another mode");
  args.between = cubic ? Between::kCubic : mode == "nearest" ? Between::kNearest : Between::kLinear;
  const std::string padding = b.attr_string("padding_mode", "zeros");
  args.beyond = padding == "border" ? Beyond::kBorder : padding == "reflection" ? Beyond::kReflection : Beyond::kZeros;
  args.corners = b.attr_int("align_corners", 0) != 0;
  const ValueId y = b.make(DType::kFloat32, {args.batch, args.channels, args.out[0], args.out[1]});
  CallMaker make(kGridSample, args);
  b.add(make.read(args.x, x).read(args.grid, grid).write(args.y, y).take());
  bind_as(b, 0, y, b.dtype(given));
}

constexpr std::array kSamplingOps = {LowerEntry{"Resize", lower_resize}, LowerEntry{"GridSample", lower_grid_sample}};

}  // namespace

LowerEntries sampling_ops() { return kSamplingOps; }

}  // namespace leapp::native
