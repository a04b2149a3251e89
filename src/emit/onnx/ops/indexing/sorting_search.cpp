// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where numbers stand among others: by counting, every number against every boundary.
#include <algorithm>
#include <variant>
#include <vector>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/sorting_order.h"

namespace leapp::onnx_ops {
namespace {

/// For each of `values` [..., m] how many of `boundaries` [..., n] stand before it; a NaN comes after all.
Tensor count_before(OpBuilder& b, const Tensor& values, const Tensor& boundaries, bool right) {
  const Tensor beyond =
      b.compare(right ? "Greater" : "GreaterOrEqual", b.unsqueeze(boundaries, {-2}), b.unsqueeze(values, {-1}));
  return b.reduce("ReduceSum", b.cast(b.logical_not(beyond), DType::kInt32), {-1}, false);
}

DType common_dtype(OpBuilder& b, const char* values, const char* boundaries) {
  const DType dtype = b.promoted({values, boundaries});
  return dtype == DType::kBool ? DType::kInt32 : dtype;
}

/// Counts of the elements of `x` [n], which weigh `weights`, by the number of their bin; others count nowhere.
Tensor weigh_bins(OpBuilder& b, const Tensor& bin, const Tensor& weights, std::int64_t bins) {
  const Tensor member = b.compare("Equal", b.unsqueeze(bin, {0}), b.ints(iota(bins), {bins, 1}));
  const Tensor counted = b.where(member, weights, b.constant(std::int64_t{0}, weights.dtype));
  return b.reduce("ReduceSum", counted, {1}, false);
}

struct Range {
  Tensor low;
  Tensor high;
};

/// `low` to `high`; those of the data when both are equal; one to each side when these are as well.
Range range_of(OpBuilder& b, const Tensor& x, const Scalar& low, const Scalar& high) {
  if (to_double(low) != to_double(high)) return {b.constant(low, x.dtype), b.constant(high, x.dtype)};
  if (x.elements() == 0) return {b.constant(0.0, x.dtype), b.constant(1.0, x.dtype)};
  const Tensor smallest = b.reduce("ReduceMin", x, {}, false);
  const Tensor largest = b.reduce("ReduceMax", x, {}, false);
  const Tensor same = b.compare("Equal", smallest, largest);
  const double margin = b.onnx_op() == "histogram" ? 0.5 : 1;
  return {b.where(same, with_number(b, "Sub", smallest, margin), smallest),
          b.where(same, with_number(b, "Add", largest, margin), largest)};
}

/// As torch.linspace: from both ends to the middle.
Tensor even_edges(OpBuilder& b, const Range& range, std::int64_t bins) {
  const DType dtype = range.low.dtype;
  const Tensor step = with_number(b, "Div", b.binary("Sub", range.high, range.low), static_cast<double>(bins));
  const Ints numbers = iota(bins + 1);
  const Tensor up = b.cast(b.ints(numbers), dtype);
  const Tensor from_low = b.binary("Add", range.low, b.binary("Mul", step, up));
  const Tensor left = number_with(b, "Sub", static_cast<double>(bins), up);
  const Tensor from_high = b.binary("Sub", range.high, b.binary("Mul", step, left));
  const auto half = (bins + 1) / 2;
  const Tensor lower_half = compare_number(b, "Less", up, static_cast<double>(half));
  return b.where(lower_half, from_low, from_high);
}

/// What the argument `range` says of dimension `dim`, or the data.
Range stated_range(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  const auto* stated = std::get_if<std::vector<double>>(b.node().find("range"));
  const auto at = static_cast<std::size_t>(2 * dim);
  if (stated == nullptr || stated->size() < at + 2) return range_of(b, x, 0.0, 0.0);
  return range_of(b, x, (*stated)[at], (*stated)[at + 1]);
}

/// The number of each element's bin, -1 outside. The last bin has its upper edge as well.
Tensor bin_of(OpBuilder& b, const Tensor& x, const Tensor& edges) {
  const std::int64_t bins = edges.size(0) - 1;
  const Tensor low = b.slice(edges, 0, 0, 1);
  const Tensor high = b.slice(edges, 0, bins, bins + 1);
  const Tensor place = with_number(b, "Sub", b.cast(count_before(b, x, edges, true), DType::kInt64), 1);
  const Tensor bin = b.binary("Min", place, b.constant(bins - 1, DType::kInt64));
  const Tensor inside = b.binary("And", b.compare("GreaterOrEqual", x, low), b.compare("LessOrEqual", x, high));
  return b.where(inside, bin, b.constant(std::int64_t{-1}, DType::kInt64));
}

Tensor weights_of(OpBuilder& b, const Tensor& x) {
  return b.has("weight") ? b.reshape(b.operand("weight", x.dtype), x.shape) : b.full(1.0, x.type());
}

Tensor widths_of(OpBuilder& b, const Tensor& edges) {
  const std::int64_t bins = edges.size(0) - 1;
  return b.binary("Sub", b.slice(edges, 0, 1, bins + 1), b.slice(edges, 0, 0, bins));
}

}  // namespace

void bucketize(OpBuilder& b) {
  const DType dtype = common_dtype(b, "self", "boundaries");
  const Tensor x = b.operand("self", dtype);
  const Tensor boundaries = b.operand("boundaries", dtype);
  if (boundaries.elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  const Tensor flat = b.reshape(x, {x.elements()});
  const Tensor found = count_before(b, flat, boundaries, b.flag("right"));
  b.bind(b.reshape(b.cast(found, b.result().dtype), b.result().shape));
}

void search_sorted(OpBuilder& b) {
  const DType dtype = common_dtype(b, "self", "sorted_sequence");
  Tensor x = b.operand("self", dtype);
  Tensor sequence = b.operand("sorted_sequence", dtype);
  if (sequence.elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  if (b.has("sorter")) sequence = b.gather_elements(sequence, b.operand("sorter", DType::kInt64), -1);
  const bool right = b.flag("right") || (b.has("side") && b.text("side") == "right");
  if (sequence.rank() == 1) x = b.reshape(x, {x.elements()});
  b.bind(b.reshape(b.cast(count_before(b, x, sequence, right), b.result().dtype), b.result().shape));
}

void is_in(OpBuilder& b) {
  const char* elements = b.has("element") ? "element" : "elements";
  const char* tests = b.has("test_element") ? "test_element" : "test_elements";
  const DType dtype = b.promoted({elements, tests});
  const Tensor x = b.operand(elements, dtype);
  const Tensor among = b.operand(tests, dtype);
  const bool invert = b.flag("invert");
  if (among.elements() == 0) return b.bind(b.full(invert, b.result()));
  const Tensor equal = b.compare("Equal", b.unsqueeze(x, {-1}), b.reshape(among, {among.elements()}));
  const Tensor any = b.cast(b.reduce("ReduceMax", b.cast(equal, DType::kInt32), {-1}, false), DType::kBool);
  b.bind(invert ? b.logical_not(any) : any);
}

void histogram_of_counts(OpBuilder& b) {
  Tensor x = b.tensor("self");
  const DType dtype = x.dtype;
  if (!is_floating(dtype)) return b.refuse("histc of integers");
  x = b.reshape(x, {x.elements()});
  const std::int64_t bins = b.integer("bins");
  const Range range = range_of(b, x, b.scalar("min"), b.scalar("max"));
  const Tensor width = b.binary("Sub", range.high, range.low);
  const Tensor place =
      b.binary("Div", with_number(b, "Mul", b.binary("Sub", x, range.low), static_cast<double>(bins)), width);
  const Tensor last = b.constant(static_cast<double>(bins - 1), dtype);
  const Tensor inside =
      b.binary("And", b.compare("GreaterOrEqual", x, range.low), b.compare("LessOrEqual", x, range.high));
  const Tensor bin =
      b.cast(b.where(inside, b.binary("Min", b.unary("Floor", place), last), b.constant(-1.0, dtype)), DType::kInt64);
  b.bind(weigh_bins(b, bin, b.constant(1.0, dtype), bins));
}

void histogram(OpBuilder& b) {
  const Tensor given = b.tensor("self");
  const Tensor x = b.reshape(given, {given.elements()});
  const Tensor edges =
      b.is_number("bins") ? even_edges(b, stated_range(b, x, 0), b.integer("bins")) : b.operand("bins", x.dtype);
  const std::int64_t bins = edges.size(0) - 1;
  Tensor counts = weigh_bins(b, bin_of(b, x, edges), weights_of(b, x), bins);
  if (b.flag("density")) {
    counts = b.binary("Div", counts, b.reduce("ReduceSum", counts, {0}, true));
    counts = b.binary("Div", counts, widths_of(b, edges));
  }
  b.bind(0, counts);
  b.bind(1, edges);
}

/// Of points, the last dimension of self: a bin for each coordinate.
void histogram_of_points(OpBuilder& b) {
  const Tensor given = b.tensor("self");
  const std::int64_t dims = given.size(-1);
  const Tensor points = b.reshape(given, {given.elements() / dims, dims});
  const Tensors listed = b.node().overload() == "TensorList_bins" ? b.tensors("bins") : Tensors{};
  Tensor flat = b.full(std::int64_t{0}, {DType::kInt64, {points.size(0)}});
  Tensor outside = b.full(false, {DType::kBool, {points.size(0)}});
  Tensors all_edges;
  for (std::int64_t dim = 0; dim < dims; ++dim) {
    const Tensor x = b.select(points, 1, dim);
    const auto index = static_cast<std::size_t>(dim);
    const Ints counts = listed.empty() ? b.integers("bins") : Ints{};
    const Tensor edges = listed.empty() ? even_edges(b, stated_range(b, x, dim), counts[counts.size() == 1 ? 0 : index])
                                        : b.cast(listed[index], x.dtype);
    const Tensor bin = bin_of(b, x, edges);
    outside = b.binary("Or", outside, compare_number(b, "Less", bin, 0));
    flat = b.binary("Add", with_number(b, "Mul", flat, static_cast<double>(edges.size(0) - 1)), bin);
    all_edges.push_back(edges);
    b.bind(index + 1, edges);
  }
  const Tensor place = b.where(outside, b.constant(std::int64_t{-1}, DType::kInt64), flat);
  const Shape shape = b.result().shape;
  Tensor counts = weigh_bins(b, place, weights_of(b, b.select(points, 1, 0)), graph::element_count(shape));
  counts = b.reshape(counts, shape);
  if (b.flag("density")) {
    counts = b.binary("Div", counts, b.reduce("ReduceSum", counts, {}, true));
    for (std::size_t dim = 0; dim < all_edges.size(); ++dim) {
      Shape along(shape.size(), 1);
      along[dim] = shape[dim];
      counts = b.binary("Div", counts, b.reshape(widths_of(b, all_edges[dim]), along));
    }
  }
  b.bind(0, counts);
}

}  // namespace leapp::onnx_ops
