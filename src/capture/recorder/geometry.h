// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>

#include <cstdint>
#include <vector>

namespace at {
class Tensor;
}

namespace leapp::capture {

/// How a tensor lies in a range of memory.
struct Geometry {
  c10::DimVector sizes;
  c10::DimVector strides;        ///< in elements
  std::int64_t byte_offset = 0;  ///< of the first element, from the start of the range
  at::ScalarType dtype = at::ScalarType::Float;
  bool conjugated = false;  ///< lazily conjugated view
  bool negated = false;     ///< lazily negated view

  bool operator==(const Geometry&) const = default;

  [[nodiscard]] std::int64_t item_size() const { return static_cast<std::int64_t>(c10::elementSize(dtype)); }
  [[nodiscard]] std::int64_t element_count() const;

  /// First byte and the byte behind the last one. Empty for a tensor without elements.
  [[nodiscard]] std::int64_t first_byte() const { return byte_offset; }
  [[nodiscard]] std::int64_t end_byte() const;

  /// Each element of the range exactly once: the range starts at byte 0 and has `range_bytes`.
  [[nodiscard]] bool covers(std::int64_t range_bytes) const;

  /// Elements follow each other in row-major order without gaps. REQUIRES: has elements
  [[nodiscard]] bool row_major() const;

  /// Dimensions from the slowest to the fastest. REQUIRES: covers(...)
  [[nodiscard]] std::vector<std::int64_t> order() const;
};

/// Whether the bytes from the first to the last of one meet those of the other.
inline bool touch(const Geometry& a, const Geometry& b) {
  return a.first_byte() < b.end_byte() && b.first_byte() < a.end_byte();
}

/// REQUIRES: the tensor is strided and has storage. `range_begin` is the address the range starts at.
Geometry geometry_of(const at::Tensor& tensor, std::uintptr_t range_begin);
/// Whether that is `place`.
bool lies_at(const at::Tensor& tensor, std::uintptr_t range_begin, const Geometry& place);

}  // namespace leapp::capture
