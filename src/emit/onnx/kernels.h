// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "leapp/base/dtype.h"

namespace leapp::onnx_ops {

/// ONNX allows more dtypes than runtimes implement. The dtype in which to compute ONNX operator `op` on data of
/// `dtype`, so that ONNX Runtime has a CPU kernel and the result is exact after a cast back (integers modulo their
/// width), or as torch computes it (half in float32). Nothing: there is none.
[[nodiscard]] std::optional<DType> compute_dtype(std::string_view op, DType dtype, int opset);

}  // namespace leapp::onnx_ops
