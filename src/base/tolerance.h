// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "leapp/base/dtype.h"

namespace leapp {

/// How far a number may be from the one that is expected.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;

  /// Whether |found - expected| <= atol + rtol * |expected|. Infinities agree when they are equal, NaN never does.
  [[nodiscard]] bool allows(double found, double expected) const {
    return allows(found, expected, std::abs(found - expected));
  }

  /// The same, with |found - expected| from someone who knows it better: two large integers may be one double.
  [[nodiscard]] bool allows(double found, double expected, double distance) const {
    if (std::isinf(found) || std::isinf(expected)) return found == expected;
    return distance <= atol + rtol * std::abs(expected);
  }
};

/// What two programs that do the same may differ by when nobody says otherwise: sums in another order differ in the
/// last digits, and how many of those a number has depends on its type.
[[nodiscard]] constexpr Tolerance usual_tolerance(DType dtype) {
  if (dtype == DType::kFloat16) return {5e-3, 1e-3};
  if (dtype == DType::kBFloat16) return {4e-2, 1e-2};
  return {};
}

/// Half of the distance from one to the next larger number; 0 for types whose arithmetic does not round.
[[nodiscard]] constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kComplex32:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat32:
    case DType::kComplex64:
      return 0x1p-24;
    case DType::kFloat64:
    case DType::kComplex128:
      return 0x1p-53;
    default:
      return 0;
  }
}

}  // namespace leapp
