// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Q as reflectors 1 - tau v v^T below the diagonal of `packed`, where R stands on and above it, as LAPACK's geqrf.
struct Reflectors {
  Tensor packed;
  Tensor tau;
};
Reflectors reflectors_of(OpBuilder& b, const Tensor& a);

/// Q m, or Q^T m.
Tensor reflected(OpBuilder& b, const Reflectors& q, const Tensor& m, bool transpose);

}  // namespace leapp::onnx_ops
