// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows over the last dimensions of a tensor, spelled out as Gather: for what Conv and the pools have no
// kernel of, and for windows that are not all alike.
#pragma once

#include <vector>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// `list` for each of `count` dimensions: one number stands for all.
[[nodiscard]] Ints per_dimension(const Ints& list, std::int64_t count);

/// For one dimension: which positions each output sees.
using Windows = std::vector<Ints>;

/// Geometry of one dimension of a convolution or a pool.
struct WindowSpec {
  std::int64_t size = 0;  ///< of the input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< before; after it there is as much as the last window needs
  std::int64_t dilation = 1;
  std::int64_t outputs = 0;
};

/// Positions inside the input only; windows may so have several lengths.
[[nodiscard]] Windows windows_of(const WindowSpec& spec);
/// Adaptive pooling: `outputs` windows that cover `size` about evenly.
[[nodiscard]] Windows adaptive_windows(std::int64_t size, std::int64_t outputs);

/// The largest element of each window over the last windows.size() dimensions; `indices`: its position among them.
struct MaxResult {
  Tensor value;
  Tensor indices;
};
MaxResult max_of_windows(OpBuilder& b, const Tensor& x, const std::vector<Windows>& windows);

/// The sum of each window.
Tensor sum_of_windows(OpBuilder& b, const Tensor& x, const std::vector<Windows>& windows);

/// [N, C, i...] to [N, C, k..., o...]; the padding of `specs` is already in `x`.
Tensor gather_windows(OpBuilder& b, const Tensor& x, const std::vector<WindowSpec>& specs);

}  // namespace leapp::onnx_ops
