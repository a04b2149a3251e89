// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as matrix products that copy nothing: the offsets of a window's numbers from its corner are a list, made
// when the weights are packed, and a row of the product's left side is a corner and that list. Where there is padding
// the input is first copied into a frame of zeros.
//
// With few output channels per group the roles change: 16 neighbouring windows are the columns and the weights the
// rows.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/convolution_layout.h"
#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/convolution.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

/// 16 channels of `count` neighbouring windows: biased, cut off below and put into the channels' planes.
HWY_NOINLINE void store_channels(float* sums, std::int64_t count, const ConvolutionPart& part, std::int64_t channel,
                                 std::int64_t window) {
  constexpr PanelTag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
  alignas(64) float bias[kPanel] = {};
  const std::int64_t width = std::min<std::int64_t>(kPanel, part.channels - channel);
  if (part.bias != nullptr) std::memcpy(bias, part.bias + channel, static_cast<std::size_t>(width) * sizeof(float));
  const PanelVector least = hn::Set(d, part.least);
  for (std::int64_t i = 0; i < count * kPanel; i += kLanes) {
    const PanelVector sum = hn::Add(hn::Load(d, sums + i), hn::Load(d, bias + i % kPanel));
    hn::Store(hn::IfThenElse(hn::Lt(sum, least), least, sum), d, sums + i);
  }
  float* y = part.y + channel * part.windows + window;
  for (std::int64_t c = 0; c < width; ++c, y += part.windows) {
    for (std::int64_t r = 0; r < count; ++r) y[r] = sums[r * kPanel + c];
  }
}

template <class Panel>
HWY_NOINLINE void convolve_by_channels(const ConvolutionPart& part) {
  const auto* panels = static_cast<const typename Panel::Element*>(part.weights);
  for (std::int64_t channel = 0; channel < part.channels; channel += kPanel) {
    for_each_tile(0, part.windows, [&](std::int64_t window, auto rows) HWY_ATTR {
      constexpr int kRows = decltype(rows)::value;
      const float* corners[kRows];
      part.corners(window, kRows, corners);
      alignas(64) float sums[kRows * kPanel];
      multiply_tile<Panel, kRows>(corners, Listed{part.offsets}, panels + channel * part.depth, Packed(), part.depth,
                                  sums);
      store_channels(sums, kRows, part, channel, window);
    });
  }
}

void convolve_channels(const ConvolutionPart& part, Storage storage) {
  switch (storage) {
    case Storage::kFloat16:
      return convolve_by_channels<Float16Panel>(part);
    case Storage::kBFloat16:
      return convolve_by_channels<BFloat16Panel>(part);
    default:
      return convolve_by_channels<Float32Panel>(part);
  }
}

/// `count` channels of windows side by side in a row, `width` of the 16 wanted.
HWY_NOINLINE void store_windows(const float* sums, std::int64_t count, const ConvolutionPart& part,
                                std::int64_t channel, float* y, std::int64_t width) {
  constexpr PanelTag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
  const PanelVector least = hn::Set(d, part.least);
  for (std::int64_t r = 0; r < count; ++r, y += part.windows) {
    const PanelVector bias = hn::Set(d, part.bias == nullptr ? 0.0F : part.bias[channel + r]);
    alignas(64) float values[kPanel];
    float* to = width == kPanel ? y : values;
    for (int i = 0; i < kPanel; i += kLanes) {
      const PanelVector sum = hn::Add(hn::Load(d, sums + r * kPanel + i), bias);
      hn::StoreU(hn::IfThenElse(hn::Lt(sum, least), least, sum), d, to + i);
    }
    if (width != kPanel) std::memcpy(y, values, static_cast<std::size_t>(width) * sizeof(float));
  }
}

/// For a stride of 1 along the row. Reads up to 15 numbers beyond the last window.
void convolve_windows(const ConvolutionPart& part) {
  const auto* weights = static_cast<const float*>(part.weights);
  for (std::int64_t first = 0; first < part.windows; first += part.row_windows) {
    for (std::int64_t x = 0; x < part.row_windows; x += kPanel) {
      const std::int64_t width = std::min<std::int64_t>(kPanel, part.row_windows - x);
      const float* corner = part.corner(first + x);
      for_each_tile<(kTileRows < 4 ? kTileRows : 4)>(0, part.channels, [&](std::int64_t channel, auto rows) HWY_ATTR {
        constexpr int kRows = decltype(rows)::value;
        const float* of_channel[kRows];
        for (int r = 0; r < kRows; ++r) of_channel[r] = weights + (channel + r) * part.depth;
        alignas(64) float sums[kRows * kPanel];
        multiply_tile<Float32Panel, kRows>(of_channel, Dense(), corner, Listed{part.offsets}, part.depth, sums);
        store_windows(sums, kRows, part, channel, part.y + channel * part.windows + first + x, width);
      });
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(convolve_channels);
LEAPP_KERNEL_TABLE(convolve_windows);

namespace {

/// Copies an item's planes into frames of zeros.
void frame(const ConvolutionShape& shape, const ConvolutionLayout& layout, const float* x, float* to) noexcept {
  const std::int64_t top = shape.window.pad[0];
  const std::int64_t left = shape.window.pad[1];
  const std::int64_t rows = std::min(shape.in[0], layout.height - top);
  const std::int64_t columns = std::min(shape.in[1], layout.width - left);
  std::memset(to, 0, static_cast<std::size_t>(layout.item_floats) * sizeof(float));
  for (std::int64_t plane = 0; plane < shape.in_channels; ++plane) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(to + (plane * layout.height + top + row) * layout.width + left,
                  x + (plane * shape.in[0] + row) * shape.in[1], static_cast<std::size_t>(columns) * sizeof(float));
    }
  }
}

void run_part(const ConvolutionPart& part, const ConvolutionLayout& layout, Storage storage) noexcept {
  if (layout.by_windows) {
    LEAPP_KERNEL(convolve_windows)(part);
  } else {
    LEAPP_KERNEL(convolve_channels)(part, storage);
  }
}

}  // namespace

std::size_t convolution_scratch_bytes(const ConvolutionShape& shape) noexcept {
  const ConvolutionLayout layout(shape);
  return layout.framed ? static_cast<std::size_t>(layout.item_floats) * sizeof(float) : 0;
}

void convolution(const Convolution& args) noexcept {
  const ConvolutionShape& shape = args.shape;
  const ConvolutionLayout layout(shape);
  const std::int64_t in_group = shape.in_channels / shape.groups;
  const std::int64_t out_group = shape.out_channels / shape.groups;
  const char* packed = static_cast<const char*>(args.packed);
  const bool relu = args.activation.function == Unary::kRelu;
  ConvolutionPart part;
  part.offsets = reinterpret_cast<const std::int32_t*>(packed);
  part.depth = layout.depth;
  part.channels = out_group;
  part.windows = shape.out[0] * shape.out[1];
  part.row_windows = shape.out[1];
  part.row_step = shape.window.stride[0] * layout.width;
  part.column_step = shape.window.stride[1];
  part.least = relu ? 0.0F : -std::numeric_limits<float>::infinity();
  for (std::int64_t item = 0; item < shape.batch; ++item) {
    const float* x = args.x + item * shape.in_channels * shape.in[0] * shape.in[1];
    if (layout.framed) {
      frame(shape, layout, x, static_cast<float*>(args.scratch));
      x = static_cast<const float*>(args.scratch);
    }
    for (std::int64_t group = 0; group < shape.groups; ++group) {
      part.x = x + group * in_group * layout.height * layout.width;
      part.weights = packed + layout.offset_bytes + static_cast<std::size_t>(group) * layout.group_bytes(args.storage);
      part.bias = args.bias == nullptr ? nullptr : args.bias + group * out_group;
      part.y = args.y + (item * shape.out_channels + group * out_group) * part.windows;
      run_part(part, layout, args.storage);
    }
  }
  if (relu || args.activation.function == Unary::kIdentity) return;
  const auto count = static_cast<std::size_t>(shape.batch * shape.out_channels * part.windows);
  apply_unary(args.activation, args.y, args.y, count);
}

}  // namespace leapp::native::kernels
#endif
