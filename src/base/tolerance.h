// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

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

}  // namespace leapp
