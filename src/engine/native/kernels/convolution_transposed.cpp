// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/kernels.h"

namespace leapp::native::kernels {

namespace {

/// The input positions [first, end) along an axis whose contribution at `tap` falls into the output.
struct Range {
  std::int64_t first;
  std::int64_t end;
};

[[nodiscard]] Range inputs_that_reach(const ConvolutionShape& shape, int axis, std::int64_t tap) noexcept {
  const std::int64_t stride = shape.window.stride[axis];
  const std::int64_t shift = tap * shape.window.dilation[axis] - shape.window.pad[axis];  // out = in * stride + shift
  const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const std::int64_t room = shape.out[axis] - shift;
  const std::int64_t end = room <= 0 ? 0 : (room + stride - 1) / stride;
  return {first, std::min(end, shape.in[axis])};
}

/// One input plane onto one output plane.
void add_plane(const ConvolutionShape& shape, const float* x, const float* weights, float* y) noexcept {
  const Window& window = shape.window;
  for (std::int64_t tap = 0; tap < window.kernel[0] * window.kernel[1]; ++tap) {
    const std::int64_t ky = tap / window.kernel[1];
    const std::int64_t kx = tap % window.kernel[1];
    const Range rows = inputs_that_reach(shape, 0, ky);
    const Range columns = inputs_that_reach(shape, 1, kx);
    const float weight = weights[tap];
    for (std::int64_t iy = rows.first; iy < rows.end; ++iy) {
      const std::int64_t oy = iy * window.stride[0] + ky * window.dilation[0] - window.pad[0];
      const std::int64_t shift = kx * window.dilation[1] - window.pad[1];
      const float* from = x + iy * shape.in[1];
      float* to = y + oy * shape.out[1];
      if (window.stride[1] == 1) {
        for (std::int64_t ix = columns.first; ix < columns.end; ++ix) to[ix + shift] += weight * from[ix];
      } else {
        for (std::int64_t ix = columns.first; ix < columns.end; ++ix) {
          to[ix * window.stride[1] + shift] += weight * from[ix];
        }
      }
    }
  }
}

}  // namespace

void convolution_transposed(const ConvolutionTransposed& args) noexcept {
  const ConvolutionShape& shape = args.shape;
  const std::int64_t in_group = shape.in_channels / shape.groups;
  const std::int64_t out_group = shape.out_channels / shape.groups;
  const std::int64_t in_plane = shape.in[0] * shape.in[1];
  const std::int64_t out_plane = shape.out[0] * shape.out[1];
  const std::int64_t taps = shape.window.kernel[0] * shape.window.kernel[1];
  for (std::int64_t i = 0; i < shape.batch * shape.out_channels; ++i) {
    const std::int64_t item = i / shape.out_channels;
    const std::int64_t channel = i % shape.out_channels;
    const std::int64_t group = channel / out_group;
    float* y = args.y + i * out_plane;
    std::fill_n(y, out_plane, args.bias == nullptr ? 0.0F : args.bias[channel]);
    for (std::int64_t c = group * in_group; c < (group + 1) * in_group; ++c) {
      add_plane(shape, args.x + (item * shape.in_channels + c) * in_plane,
                args.weights + (c * out_group + channel % out_group) * taps, y);
    }
  }
  const auto count = static_cast<std::size_t>(shape.batch * shape.out_channels * out_plane);
  if (args.activation.function != Unary::kIdentity) apply_unary(args.activation, args.y, args.y, count);
}

}  // namespace leapp::native::kernels
