// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/native/kernels/kernels.h"

namespace leapp::native::kernels {

namespace {

/// The taps [first, end) of a window along an axis that fall onto the input, and how many fall onto it or its padding.
struct Taps {
  std::int64_t start;  ///< where tap 0 falls
  std::int64_t first;
  std::int64_t end;
  std::int64_t counted;
};

[[nodiscard]] Taps taps_of(const Pooling& args, int axis, std::int64_t at) noexcept {
  const Window& window = args.window;
  const std::int64_t dilation = window.dilation[axis];
  const std::int64_t start = at * window.stride[axis] - window.pad[axis];
  const auto below = [&](std::int64_t limit) {  // taps that fall before it
    return limit <= start ? 0 : std::min(window.kernel[axis], (limit - start + dilation - 1) / dilation);
  };
  const std::int64_t end = below(args.in[axis]);
  return {start, std::min(below(0), end), end, below(args.in[axis] + args.pad_end[axis])};
}

template <class F>
void for_each_tap(const Pooling& args, const float* x, const Taps& rows, const Taps& columns, F f) noexcept {
  for (std::int64_t ky = rows.first; ky < rows.end; ++ky) {
    const float* row = x + (rows.start + ky * args.window.dilation[0]) * args.in[1] + columns.start;
    for (std::int64_t kx = columns.first; kx < columns.end; ++kx) f(row[kx * args.window.dilation[1]]);
  }
}

[[nodiscard]] float largest(const Pooling& args, const float* x, const Taps& rows, const Taps& columns) noexcept {
  float top = -std::numeric_limits<float>::infinity();
  for_each_tap(args, x, rows, columns, [&](float value) { top = value > top || std::isnan(value) ? value : top; });
  return top;
}

[[nodiscard]] float average(const Pooling& args, const float* x, const Taps& rows, const Taps& columns) noexcept {
  float sum = 0;
  for_each_tap(args, x, rows, columns, [&](float value) { sum += value; });
  const std::int64_t inside = (rows.end - rows.first) * (columns.end - columns.first);
  const std::int64_t count = args.count_padding ? rows.counted * columns.counted : inside;
  return count == 0 ? 0.0F : sum / static_cast<float>(count);
}

}  // namespace

void pooling(const Pooling& args) noexcept {
  float* y = args.y;
  for (std::int64_t plane = 0; plane < args.planes; ++plane) {
    const float* x = args.x + plane * args.in[0] * args.in[1];
    for (std::int64_t row = 0; row < args.out[0]; ++row) {
      const Taps rows = taps_of(args, 0, row);
      for (std::int64_t column = 0; column < args.out[1]; ++column, ++y) {
        const Taps columns = taps_of(args, 1, column);
        *y = args.average ? average(args, x, rows, columns) : largest(args, x, rows, columns);
      }
    }
  }
}

}  // namespace leapp::native::kernels
