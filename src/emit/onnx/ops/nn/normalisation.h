// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What normalisation shares with attention.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// The dtype torch computes statistics in: float32 for half.
[[nodiscard]] DType statistics_dtype(DType dtype);

struct LayerNormOptions {
  std::int64_t dims = 1;  ///< how many of the last dimensions are normalised
  Tensor weight;          ///< may be absent
  Tensor bias;            ///< may be absent
  double eps = 0;
};
Tensor layer_norm(OpBuilder& b, const Tensor& x, const LayerNormOptions& options);

}  // namespace leapp::onnx_ops
