// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers of interpolation and of sampling at a grid; pooling.cpp has their rows.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// b.onnx_op(): "exact" for torch's nearest-exact.
void resize_nearest(OpBuilder& b);
/// b.onnx_op(): "linear" or "cubic".
void resize_smooth(OpBuilder& b);
/// b.onnx_op(): "linear", "cubic" or "lanczos".
void resize_antialiased(OpBuilder& b);

void grid_sample(OpBuilder& b);
void affine_grid(OpBuilder& b);

}  // namespace leapp::onnx_ops
