// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Views as arithmetic: what select, slice and their kin do to sizes, strides and an offset.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// Where the elements of a view stand in a flat storage. Strides and offset count elements.
struct Strided {
  Shape size;
  std::vector<std::int64_t> stride;
  std::int64_t offset = 0;
};

[[nodiscard]] Strided row_major(const Shape& shape);

/// True when both name the same elements in the same order; strides of extents below 2 do not matter.
[[nodiscard]] bool same_elements(const Strided& a, const Strided& b);

/// True when certainly no element is named twice.
[[nodiscard]] bool is_injective(const Strided& view);

/// One step from a value to a view of it. Which fields count depends on the kind.
struct ViewStep {
  enum class Kind : std::uint8_t { kReshape, kPermute, kExpand, kSelect, kSlice, kDiagonal };
  Kind kind = Kind::kReshape;
  std::vector<std::int64_t> list;  ///< kReshape, kExpand: the new shape; kPermute: the order
  std::int64_t dim = 0;            ///< kSelect, kSlice; kDiagonal: dim1
  std::int64_t dim2 = 0;           ///< kDiagonal
  std::int64_t start = 0;          ///< kSelect: index; kSlice: start; kDiagonal: offset
  std::int64_t end = 0;            ///< kSlice
  std::int64_t step = 1;           ///< kSlice

  /// True when the step leaves elements out.
  [[nodiscard]] bool narrows() const {
    return kind == Kind::kSelect || kind == Kind::kSlice || kind == Kind::kDiagonal;
  }
};

/// The view after the step, or nothing when the step is out of range or a reshape would have to copy.
[[nodiscard]] std::optional<Strided> apply(const Strided& view, const ViewStep& step);

}  // namespace leapp::graph
