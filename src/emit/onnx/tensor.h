// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace leapp::onnx_ops {

using graph::Shape;

/// A value of the ONNX graph under construction: cheap to copy, knows its dtype and static shape.
struct Tensor {
  static constexpr std::int32_t kNone = -1;

  std::int32_t id = kNone;  ///< kNone: an optional input that is left out
  DType dtype = DType::kFloat32;
  Shape shape;

  [[nodiscard]] bool present() const { return id != kNone; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  /// Elements along `dim`, which may be negative; 1 where there is no such dimension, as for a 0-d tensor.
  [[nodiscard]] std::int64_t size(std::int64_t dim) const {
    const std::int64_t index = dim < 0 ? dim + rank() : dim;
    return index < 0 || index >= rank() ? 1 : shape[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::int64_t elements() const { return graph::element_count(shape); }
  [[nodiscard]] graph::TensorType type() const { return {dtype, shape}; }
};

}  // namespace leapp::onnx_ops
