// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/kernels/convolution_layout.h"

#include <algorithm>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/storage.h"

namespace leapp::native::kernels {

namespace {

constexpr std::int64_t kFewChannels = 3;
constexpr std::int64_t kReadBeyond = 16;

/// From the first number that a window covers along an axis to behind the last.
[[nodiscard]] std::int64_t reach(const ConvolutionShape& shape, int axis) noexcept {
  return (shape.out[axis] - 1) * shape.window.stride[axis] +
         (shape.window.kernel[axis] - 1) * shape.window.dilation[axis] + 1;
}

}  // namespace

ConvolutionLayout::ConvolutionLayout(const ConvolutionShape& shape) noexcept
    : depth(shape.in_channels / shape.groups * shape.window.kernel[0] * shape.window.kernel[1]),
      channels(shape.out_channels / shape.groups),
      height(shape.in[0]),
      width(shape.in[1]),
      item_floats(0),
      offset_bytes((static_cast<std::size_t>(depth) * sizeof(std::int32_t) + 63) / 64 * 64),
      by_windows(shape.window.stride[1] == 1 && channels <= kFewChannels),
      framed(false) {
  const bool inside =
      shape.window.pad[0] == 0 && shape.window.pad[1] == 0 && reach(shape, 0) <= height && reach(shape, 1) <= width;
  framed = !inside || by_windows;  // the latter for what is read beyond the last window
  if (!inside) {
    height = std::max(reach(shape, 0), shape.window.pad[0]);
    width = std::max(reach(shape, 1), shape.window.pad[1]);
  }
  item_floats = shape.in_channels * height * width + kReadBeyond;
}

std::size_t ConvolutionLayout::group_bytes(Storage storage) const noexcept {
  if (!by_windows) return packed_matrix_bytes(depth, channels, storage);
  return static_cast<std::size_t>(channels * depth) * sizeof(float);
}

std::size_t packed_convolution_bytes(const ConvolutionShape& shape, Storage storage) noexcept {
  const ConvolutionLayout layout(shape);
  return layout.offset_bytes + static_cast<std::size_t>(shape.groups) * layout.group_bytes(storage);
}

void pack_convolution(const PackConvolution& args) noexcept {
  const ConvolutionShape& shape = args.shape;
  const ConvolutionLayout layout(shape);
  auto* offsets = static_cast<std::int32_t*>(args.to);
  for (std::int64_t i = 0; i < layout.depth; ++i) {
    const std::int64_t column = i % shape.window.kernel[1];
    const std::int64_t row = i / shape.window.kernel[1] % shape.window.kernel[0];
    const std::int64_t plane = i / (shape.window.kernel[1] * shape.window.kernel[0]);
    offsets[i] = static_cast<std::int32_t>((plane * layout.height + row * shape.window.dilation[0]) * layout.width +
                                           column * shape.window.dilation[1]);
  }
  char* to = static_cast<char*>(args.to) + layout.offset_bytes;
  const auto of_group = static_cast<std::size_t>(layout.channels * layout.depth);
  for (std::int64_t group = 0; group < shape.groups; ++group, to += layout.group_bytes(args.storage)) {
    const char* source =
        static_cast<const char*>(args.source) + static_cast<std::size_t>(group) * of_group * storage_size(args.storage);
    if (layout.by_windows) {
      load_as_float(source, args.storage, reinterpret_cast<float*>(to), of_group);
      continue;
    }
    pack_matrix({.source = source,
                 .storage = args.storage,
                 .k = layout.depth,
                 .n = layout.channels,
                 .row_stride = 1,
                 .column_stride = layout.depth,
                 .to = to});
  }
}

}  // namespace leapp::native::kernels
