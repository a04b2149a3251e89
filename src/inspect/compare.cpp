// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "inspect/numbers.h"

namespace leapp::inspect {

namespace {

bool is_close(DType dtype, double found, double expected, const Tolerance& tolerance) {
  return is_floating(dtype) && (tolerance.allows(found, expected) || (std::isnan(found) && std::isnan(expected)));
}

TensorDifference compare(const TensorView& found, std::span<const std::byte> expected, const Tolerance* tolerance) {
  TensorDifference difference;
  // Almost always, and much faster than looking at elements.
  if (expected.empty() || std::memcmp(found.data, expected.data(), expected.size()) == 0) return difference;
  const std::size_t width = dtype_size(found.dtype);
  const auto* values = static_cast<const std::byte*>(found.data);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::byte* one = values + i * width;
    const std::byte* other = expected.data() + i * width;
    if (std::memcmp(one, other, width) == 0) continue;
    const double a = to_double(found.dtype, one);
    const double b = to_double(found.dtype, other);
    const double distance = std::abs(a - b);
    if (std::isfinite(distance)) difference.largest = std::max(difference.largest, distance);
    if (tolerance != nullptr && is_close(found.dtype, a, b, *tolerance)) continue;
    if (++difference.count == 1) {
      difference.first = {i, element_text(found.dtype, other), element_text(found.dtype, one)};
    }
  }
  return difference;
}

}  // namespace

TensorDifference compare(const TensorView& found, std::span<const std::byte> expected, const Tolerance& tolerance) {
  return compare(found, expected, &tolerance);
}

TensorDifference compare_bits(const TensorView& found, std::span<const std::byte> expected) {
  return compare(found, expected, nullptr);
}

}  // namespace leapp::inspect
