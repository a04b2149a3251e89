// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "leapp/base/dtype.h"

namespace leapp {

[[nodiscard]] constexpr bool is_floating(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kBFloat16 || dtype == DType::kFloat8E4M3FN || dtype == DType::kFloat8E5M2;
}

[[nodiscard]] constexpr bool is_complex(DType dtype) {
  return dtype == DType::kComplex32 || dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

/// A bool is none.
[[nodiscard]] constexpr bool is_integer(DType dtype) {
  return dtype != DType::kBool && !is_floating(dtype) && !is_complex(dtype);
}

}  // namespace leapp
