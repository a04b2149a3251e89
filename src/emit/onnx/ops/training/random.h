// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Zero with probability `p`, and else x / (1 - p): one coin for each element, or for each channel where the row of the
/// table says "feature".
Tensor dropped(OpBuilder& b, const Tensor& x, double p);

}  // namespace leapp::onnx_ops
