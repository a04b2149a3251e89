// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The inverses of trigonometric functions, and hyperbolic functions, in float64, of which ONNX Runtime has none.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

Tensor arc_cosine(OpBuilder& b, const Tensor& x);
Tensor arc_sine(OpBuilder& b, const Tensor& x);
/// Of any float: ONNX Runtime's own wherever it has one.
Tensor arc_tangent(OpBuilder& b, const Tensor& x);
Tensor acosh(OpBuilder& b, const Tensor& x);
Tensor asinh(OpBuilder& b, const Tensor& x);
Tensor area_tangent(OpBuilder& b, const Tensor& x);
Tensor hyperbolic_cosine(OpBuilder& b, const Tensor& x);
Tensor hyperbolic_sine(OpBuilder& b, const Tensor& x);

}  // namespace leapp::onnx_ops
