// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing elements to where an index says, in every opset and dtype.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

enum class ScatterMode : std::uint8_t { kNone, kAdd, kMul, kMax, kMin };

/// As torch.scatter: data[..., index[i, j, k], ...] = updates[i, j, k], the index replacing the one of `dim`.
struct Scatter {
  Tensor data;
  Tensor index;    ///< int64, not negative where the reduction is not kNone; in no other dimension longer than data
  Tensor updates;  ///< as long as the index in every dimension
  std::int64_t dim = 0;
};
Tensor scatter_elements(OpBuilder& b, const Scatter& scatter, ScatterMode reduction);

/// As torch.scatter_reduce, where places that nothing is written to keep their value.
struct ScatterReduce {
  std::string reduce;  ///< "sum", "prod", "mean", "amax", "amin"
  bool include_self = true;
};
Tensor scatter_reduce(OpBuilder& b, const Scatter& scatter, const ScatterReduce& options);

/// Adds `updates` [*, rest] to `data` [places, rest] at the rows that `index` [*] names.
Tensor add_rows(OpBuilder& b, const Tensor& data, const Tensor& index, const Tensor& updates);

/// The dtype sums and products of `dtype` are computed in: half as float32, small integers and bool as int32.
[[nodiscard]] DType accumulation_dtype(DType dtype);

/// Lowest or highest number of a dtype, infinities included.
[[nodiscard]] Scalar extreme_number(DType dtype, bool highest);

/// Negative indices counted from the end, as `index + size`.
Tensor wrap_index(OpBuilder& b, const Tensor& index, std::int64_t size);

/// Elements of concat(data, updates) along `dim`, which is how a constant pattern of writes is expressed.
Tensor merge_along(OpBuilder& b, const Tensor& data, const Tensor& updates, const Ints& positions, std::int64_t dim);

}  // namespace leapp::onnx_ops
