// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// MaskedRows whose number depends on data, and how they are written with a fixed number.
//
// A mask chooses some of its elements: mask.nonzero(), x[mask]. What is computed for them has one row for each, k of
// them, and k is another number for other data. Densely, there is one row for every element of the mask, n of them, in
// the same order; row i means something only where the mask is true. Operators that look at one row at a time do the
// same to n rows as to k; those that look at several must be told which of them count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace leapp::graph::masks {

/// The rows that one mask chooses.
struct RowSpace {
  const RowSpace* parent = nullptr;  ///< chosen among the rows of that space; null: among the elements of a tensor
  Shape frame;                       ///< of the outermost mask: its elements are the rows, in row-major order
  std::int64_t count = 0;            ///< how many rows there are densely
  std::int64_t length = 0;           ///< how many were chosen in the call that was recorded
  Value* mask = nullptr;             ///< bool[count]
  const Node* source = nullptr;      ///< the operator whose result had a length that depends on data
  std::size_t group = 0;             ///< spaces that are written densely together or not at all
};

/// What stands densely for a value with one row for each of those chosen.
struct MaskedRows {
  RowSpace* space = nullptr;
  std::int64_t axis = 0;  ///< the dimension that counts rows
  Value* dense = nullptr;
  /// Every element of a row is where the row stands in this dimension of the frame.
  std::optional<std::size_t> column = std::nullopt;
  /// Of two dimensions: all the columns, one beside the other.
  bool positions = false;
  /// There was one row, and its dimension was dropped: x[ids] = v does that. Good for writing rows only; densely, rows
  /// stand along dimension 0.
  bool dropped = false;
  /// Every element of a row is how many rows of that space come before it.
  const RowSpace* rank_in = nullptr;
  /// Every element of a row is the number of a row of that space; densely, where that row stands.
  const RowSpace* row_of = nullptr;
};

}  // namespace leapp::graph::masks
