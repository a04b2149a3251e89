// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where numbers stand among others: by counting, every number against every boundary.
#include <algorithm>
#include <variant>
#include <vector>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/sorting_order.h"

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
  const Tensor lower_half = compare_number(b, "Less", up, static_cast<double>((bins + 1) / 2));
  return b.where(lower_half, from_low, from_high);
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
  Tensor edges;
  if (b.is_number("bins")) {
    const auto* stated = std::get_if<std::vector<double>>(b.node().find("range"));
    const bool given_range = stated != nullptr && stated->size() == 2;
    const Range range = range_of(b, x, given_range ? (*stated)[0] : 0.0, given_range ? (*stated)[1] : 0.0);
    edges = even_edges(b, range, b.integer("bins"));
  } else {
    edges = b.operand("bins", x.dtype);
  }
  const std::int64_t bins = edges.size(0) - 1;
  // The last bin has its upper edge as well.
  const Tensor low = b.slice(edges, 0, 0, 1);
  const Tensor high = b.slice(edges, 0, bins, bins + 1);
  const Tensor place = with_number(b, "Sub", b.cast(count_before(b, x, edges, true), DType::kInt64), 1);
  const Tensor bin = b.binary("Min", place, b.constant(bins - 1, DType::kInt64));
  const Tensor inside = b.binary("And", b.compare("GreaterOrEqual", x, low), b.compare("LessOrEqual", x, high));
  const Tensor weights = b.has("weight") ? b.reshape(b.operand("weight", x.dtype), x.shape) : b.full(1.0, x.type());
  const Tensor counted = b.where(inside, weights, b.constant(0.0, x.dtype));
  Tensor counts = weigh_bins(b, bin, counted, bins);
  if (b.flag("density")) {
    const Tensor widths = b.binary("Sub", b.slice(edges, 0, 1, bins + 1), b.slice(edges, 0, 0, bins));
    counts = b.binary("Div", b.binary("Div", counts, b.reduce("ReduceSum", counts, {0}, true)), widths);
  }
  b.bind(0, counts);
  b.bind(1, edges);
}

}  // namespace leapp::onnx_ops
