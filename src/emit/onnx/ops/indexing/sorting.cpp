// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/sorting_order.h"

namespace leapp::onnx_ops {
namespace {

/// What orders as x does with a comparison that knows no NaN.
Tensor sort_key(OpBuilder& b, const Tensor& x) {
  if (!is_floating(x.dtype)) return x;
  // In float64 there is room above the others' infinity; its own shares a place with its largest number.
  const Tensor wide = b.cast(x, DType::kFloat64);
  const Tensor finite = b.binary("Min", wide, b.constant(std::numeric_limits<double>::max(), DType::kFloat64));
  return b.where(is_nan(b, x), b.constant(std::numeric_limits<double>::infinity(), DType::kFloat64), finite);
}

void sort(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Sorted found = sorted(b, x, {b.integer("dim"), b.flag("descending")});
  b.bind(0, found.values);
  b.bind(1, found.indices);
}

void argsort(OpBuilder& b) { b.bind(sorted(b, b.tensor("self"), {b.integer("dim"), b.flag("descending")}).indices); }

/// Along the first dimension.
void msort(OpBuilder& b) { b.bind(sorted(b, b.tensor("self"), {0}).values); }

void topk(OpBuilder& b) {
  const SortOptions options = {b.integer("dim"), b.flag("largest"), b.integer("k")};
  const Sorted found = sorted(b, b.tensor("self"), options);
  b.bind(0, found.values);
  b.bind(1, found.indices);
}

/// The last of the k smallest.
void kth_value(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  const std::int64_t k = b.integer("k");
  const Sorted found = sorted(b, x, {dim, false, k});
  const auto last = [&](const Tensor& all) {
    return x.rank() == 0 ? all : b.reshape(b.slice(all, dim, k - 1, k), b.result().shape);
  };
  b.bind(0, last(found.values));
  b.bind(1, last(found.indices));
}

constexpr std::array kSortingOps = {
    EmitEntry{"aten::argsort", argsort},
    EmitEntry{"aten::argsort.stable", argsort},
    EmitEntry{"aten::bucketize.Scalar", bucketize},
    EmitEntry{"aten::bucketize.Tensor", bucketize},
    EmitEntry{"aten::cummax", cumulative_extreme, "GreaterOrEqual"},
    EmitEntry{"aten::cummin", cumulative_extreme, "LessOrEqual"},
    EmitEntry{"aten::cumprod", cumulative_product},
    EmitEntry{"aten::cumsum", cumulative_sum},
    EmitEntry{"aten::diff", difference},
    EmitEntry{"aten::histc", histogram_of_counts},
    EmitEntry{"aten::histogram.bin_ct", histogram, "histogram"},
    EmitEntry{"aten::histogram.bins_tensor", histogram, "histogram"},
    EmitEntry{"aten::histogramdd", histogram_of_points, "histogram"},
    EmitEntry{"aten::histogramdd.TensorList_bins", histogram_of_points, "histogram"},
    EmitEntry{"aten::histogramdd.int_bins", histogram_of_points, "histogram"},
    EmitEntry{"aten::isin.Scalar_Tensor", is_in},
    EmitEntry{"aten::isin.Tensor_Scalar", is_in},
    EmitEntry{"aten::isin.Tensor_Tensor", is_in},
    EmitEntry{"aten::kthvalue", kth_value},
    EmitEntry{"aten::logcumsumexp", log_cumulative_sum_exp},
    EmitEntry{"aten::median", median_of_all},
    EmitEntry{"aten::median.dim", median_along},
    EmitEntry{"aten::mode", mode},
    EmitEntry{"aten::msort", msort},
    EmitEntry{"aten::nanmedian", median_of_all, "without NaN"},
    EmitEntry{"aten::nanmedian.dim", median_along, "without NaN"},
    EmitEntry{"aten::nanquantile", quantile, "without NaN"},
    EmitEntry{"aten::nanquantile.scalar", quantile, "without NaN"},
    EmitEntry{"aten::quantile", quantile},
    EmitEntry{"aten::quantile.scalar", quantile},
    EmitEntry{"aten::searchsorted.Scalar", search_sorted},
    EmitEntry{"aten::searchsorted.Tensor", search_sorted},
    EmitEntry{"aten::sort", sort},
    EmitEntry{"aten::sort.stable", sort},
    EmitEntry{"aten::topk", topk},
};

}  // namespace

Sorted sorted(OpBuilder& b, const Tensor& x, const SortOptions& options) {
  if (x.rank() == 0) return {x, b.constant(std::int64_t{0}, DType::kInt64)};
  const std::int64_t dim = wrap_dim(options.dim, x.rank());
  const std::int64_t count = options.count < 0 ? x.size(dim) : options.count;
  const Tensor key = sort_key(b, x);
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(dim)] = count;
  const Tensors top = b.add_many("TopK", {key, b.ints({count})}, {{key.dtype, shape}, {DType::kInt64, shape}},
                                 {{"axis", dim}, {"largest", std::int64_t{options.descending}}});
  return {is_floating(x.dtype) ? b.gather_elements(x, top[1], dim) : top[0], top[1]};
}

Tensor count_nan(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  return b.reduce("ReduceSum", b.cast(is_nan(b, x), DType::kInt64), {dim}, true);
}

Tensor any_nan(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  return compare_number(b, "Greater", count_nan(b, x, dim), 0);
}

EmitEntries sorting_ops() { return kSortingOps; }

}  // namespace leapp::onnx_ops
