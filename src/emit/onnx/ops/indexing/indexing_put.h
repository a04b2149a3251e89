// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// x[i, :, j] with tensors for indices: what was asked for, in one form.
#pragma once

#include <optional>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Dimensions that are indexed, and with what. Masks whose content is known are lists of positions here.
struct IndexPlan {
  Ints dims;        ///< ascending
  Tensors indices;  ///< int64, one for each of `dims`; broadcast to `shape`
  Shape shape;

  /// The indexed dimensions stand side by side: their place is where the result has `shape`, else it comes first.
  [[nodiscard]] bool side_by_side() const;
};

/// Refuses a mask whose content is not known.
IndexPlan plan_of(OpBuilder& b, const Tensor& x, const Tensors& indices);

/// x with the indexed dimensions in front, and the order that brings them back.
struct Turned {
  Tensor x;
  Ints back;
};
Turned indexed_dims_first(OpBuilder& b, const Tensor& x, const IndexPlan& plan);

/// One row of positions for each element of plan.shape, as GatherND and ScatterND want them.
Tensor stacked_indices(OpBuilder& b, const IndexPlan& plan);

/// x[indices]
Tensor index_into(OpBuilder& b, const Tensor& x, const IndexPlan& plan);

/// x with values at x[indices], or added there.
struct IndexPut {
  IndexPlan plan;
  Tensor values;  ///< broadcast to x[indices]
  bool accumulate = false;
};
Tensor index_put_into(OpBuilder& b, const Tensor& x, const IndexPut& put);

/// The handlers of aten::index_put and its kin.
void index_put(OpBuilder& b);
void masked_index_put(OpBuilder& b);

/// Positions within the tensor, as aten::_unsafe_masked_index wants them.
void clamp_indices(OpBuilder& b, const Tensor& x, IndexPlan& plan);

}  // namespace leapp::onnx_ops
