// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// The inverse of the square matrices in the last two dimensions, by elimination written out. Refuses large ones.
Tensor inverse_of(OpBuilder& b, const Tensor& a);

}  // namespace leapp::onnx_ops
