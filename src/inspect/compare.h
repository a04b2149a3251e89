// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/tolerance.h"
#include "leapp/base/tensor_view.h"

namespace leapp::inspect {

struct ElementDifference {
  std::size_t element = 0;  ///< in row-major order
  std::string expected;
  std::string found;
};

struct TensorDifference {
  std::optional<ElementDifference> first;  ///< outside the tolerance
  std::size_t count = 0;                   ///< outside the tolerance
  double largest = 0;                      ///< |found - expected| over all elements that are numbers
};

/// Floats agree when the tolerance allows it, and when both are NaN; integers and bools when they are equal. REQUIRES:
/// `expected` has as many bytes as `found`.
[[nodiscard]] TensorDifference compare(const TensorView& found, std::span<const std::byte> expected,
                                       const Tolerance& tolerance);

/// The same for elements of which every bit has to be the same.
[[nodiscard]] TensorDifference compare_bits(const TensorView& found, std::span<const std::byte> expected);

}  // namespace leapp::inspect
