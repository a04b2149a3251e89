// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// x[i, :, j]: where a list of indices looks, with masks taken apart into positions.
#pragma once

#include <vector>

#include "graph/masks/rewriter.h"

namespace leapp::graph::masks {

/// One tensor of positions.
struct IndexPlace {
  std::int64_t dim = 0;    ///< of the indexed tensor
  Value* value = nullptr;  ///< ordinary; null: `rows`
  MaskedRows rows;
  Shape shape;            ///< as recorded
  bool in_range = false;  ///< of rows: also those that do not count are within the tensor, each at a place of its own
};

struct MaskPlaces {
  std::vector<IndexPlace> all;
  RowSpace* space = nullptr;  ///< of those that have rows; null: none has
  std::int64_t rank = 0;      ///< of what the positions are broadcast to
  std::int64_t row_dim = -1;  ///< among those dimensions: that of the rows
  std::int64_t start = 0;     ///< where these dimensions stand in the result
  std::int64_t result_rank = 0;

  /// The dimension of the result that counts the rows of the positions.
  [[nodiscard]] std::int64_t result_axis() const { return start + row_dim; }
  /// Where a dimension of the tensor that has no position is in the result.
  [[nodiscard]] std::int64_t result_dim(std::int64_t dim) const;
  [[nodiscard]] bool names(std::int64_t dim) const;
};

/// `length`: what the rows of a mask among `indices` counted in the recorded call, if that is known. kUnimplemented:
/// masks and rows are mixed in a way that has no dense form.
Result<MaskPlaces> places_of(Rewriter& writer, Value* self, const std::vector<Value*>& indices,
                             std::optional<std::int64_t> length);

/// As the argument of an operator on `self`, with positions in rows that do not count inside of it.
Result<std::vector<Value*>> dense_indices(Rewriter& writer, const MaskPlaces& places, const Value* dense_self);

/// Whatever a row is called, densely it stands where it stands.
void look_into_own_row(Rewriter& writer, IndexPlace& own);

/// Whether the positions are all the rows of a frame that lies in `self` as it is: [.., frame, ..].
[[nodiscard]] bool covers_frame(const MaskPlaces& places, const Value* self);

}  // namespace leapp::graph::masks
