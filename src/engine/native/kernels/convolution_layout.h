// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/native/kernels/kernels.h"

namespace leapp::native::kernels {

/// How a convolution of these sizes is computed, and where things lie. What is packed is the list of offsets, then the
/// weights of each group: panels, or float32 rows if `by_windows`.
struct ConvolutionLayout {
  explicit ConvolutionLayout(const ConvolutionShape& shape) noexcept;
  [[nodiscard]] std::size_t group_bytes(Storage storage) const noexcept;

  std::int64_t depth;     ///< numbers under a window in one group
  std::int64_t channels;  ///< out of a group
  std::int64_t height;    ///< of a plane as it is read: with its frame, if framed
  std::int64_t width;
  std::int64_t item_floats;  ///< all planes, and what may be read beyond the last
  std::size_t offset_bytes;
  bool by_windows;  ///< 16 windows of a row are the columns; else 16 channels
  bool framed;      ///< the input is copied into a frame of zeros
};

/// One group of one item.
struct ConvolutionPart {
  const float* x;
  const std::int32_t* offsets;
  const void* weights;
  const float* bias;
  float* y;
  std::int64_t depth;
  std::int64_t channels;
  std::int64_t windows;
  std::int64_t row_windows;
  std::int64_t row_step;
  std::int64_t column_step;
  float least;  ///< what is below is this; minus infinity: nothing

  /// The first number under a window.
  [[nodiscard]] const float* corner(std::int64_t window) const noexcept {
    return x + window / row_windows * row_step + window % row_windows * column_step;
  }

  /// Those of `count` windows from one on.
  void corners(std::int64_t window, int count, const float** to) const noexcept {
    std::int64_t column = window % row_windows;
    const float* row = x + window / row_windows * row_step;
    for (int i = 0; i < count; ++i) {
      to[i] = row + column * column_step;
      if (++column == row_windows) column = 0, row += row_step;
    }
  }
};

}  // namespace leapp::native::kernels
