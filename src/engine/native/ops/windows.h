// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "engine/native/ops/common.h"

namespace leapp::native {

/// The window of a convolution or pool over one or two axes, from the node's attributes.
struct WindowShape {
  kernels::Window window;
  std::array<std::int64_t, 2> pad_end{};
  std::array<std::int64_t, 2> in{1, 1};
  std::array<std::int64_t, 2> out{1, 1};
  int axes = 2;  ///< 1: the second of the two is meant, the first has extent 1
};

/// `kernel` is the window's extents, `spatial` those of the input. `ceil` rounds the result's extents up.
[[nodiscard]] WindowShape window_of(Lowering& b, const Shape& kernel, std::span<const std::int64_t> spatial, bool ceil);

/// The result's shape: batch and channels before the extents.
[[nodiscard]] Shape result_shape(const WindowShape& window, std::int64_t batch, std::int64_t channels);

}  // namespace leapp::native
