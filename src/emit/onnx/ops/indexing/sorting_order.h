// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Order as torch sees it: NaN is the largest number, and equals keep their order.
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

struct Sorted {
  Tensor values;
  Tensor indices;
};

struct SortOptions {
  std::int64_t dim = -1;
  bool descending = false;
  std::int64_t count = -1;  ///< how many of the first; -1 for all
};

/// REQUIRES: x has elements.
Sorted sorted(OpBuilder& b, const Tensor& x, const SortOptions& options);

/// True where a NaN is among the elements along `dim`, which is kept.
Tensor any_nan(OpBuilder& b, const Tensor& x, std::int64_t dim);

/// How many NaN there are along `dim`, which is kept, as int64.
Tensor count_nan(OpBuilder& b, const Tensor& x, std::int64_t dim);

/// Handlers of the parts of the family: sorting_scan.cpp, sorting_search.cpp, sorting_quantile.cpp.
void cumulative_sum(OpBuilder& b);
void cumulative_product(OpBuilder& b);
void cumulative_extreme(OpBuilder& b);
void log_cumulative_sum_exp(OpBuilder& b);
void difference(OpBuilder& b);

void bucketize(OpBuilder& b);
void search_sorted(OpBuilder& b);
void is_in(OpBuilder& b);
void histogram_of_counts(OpBuilder& b);
void histogram(OpBuilder& b);
void histogram_of_points(OpBuilder& b);

void median_of_all(OpBuilder& b);
void median_along(OpBuilder& b);
void quantile(OpBuilder& b);
void mode(OpBuilder& b);

}  // namespace leapp::onnx_ops
