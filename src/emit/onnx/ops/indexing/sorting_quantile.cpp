// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Statistics that need the elements in order.
#include <algorithm>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/sorting_order.h"

namespace leapp::onnx_ops {
namespace {

/// Where the lower median of n elements stands in ascending order, NaN last; of any NaN, the first of them.
Tensor median_position(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  const std::int64_t size = x.size(dim);
  const Tensor middle = b.constant((size - 1) / 2, DType::kInt64);
  if (!is_floating(x.dtype)) return middle;
  const Tensor nan = count_nan(b, x, dim);
  const Tensor numbers = b.binary("Sub", b.constant(size, DType::kInt64), nan);
  if (b.onnx_op() == "without NaN") {
    const Tensor last = b.binary("Max", with_number(b, "Sub", numbers, 1), b.constant(std::int64_t{0}, DType::kInt64));
    return with_number(b, "Div", last, 2);
  }
  return b.where(compare_number(b, "Greater", nan, 0), numbers, middle);
}

/// Values and indices of the median, `dim` kept with one element.
Sorted median(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  const Sorted order = sorted(b, x, {dim});
  const Tensor position = median_position(b, x, dim);
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(dim)] = 1;
  const Tensor place = b.expand(position, shape);
  return {b.gather_elements(order.values, place, dim), b.gather_elements(order.indices, place, dim)};
}

struct Neighbours {
  Tensor below;  ///< rank rounded down, as int64
  Tensor above;
  Tensor weight;  ///< of the one above
};

Neighbours neighbours_of(OpBuilder& b, const Tensor& rank, const std::string& interpolation) {
  Tensor at = rank;
  if (interpolation == "lower") at = b.unary("Floor", rank);
  if (interpolation == "higher") at = b.unary("Ceil", rank);
  if (interpolation == "nearest") at = b.unary("Round", rank);
  const Tensor below = b.unary("Floor", at);
  Tensor weight = b.binary("Sub", at, below);
  if (interpolation == "midpoint") {
    weight = with_number(b, "Mul", b.cast(compare_number(b, "Greater", weight, 0), at.dtype), 0.5);
  }
  return {b.cast(below, DType::kInt64), b.cast(b.unary("Ceil", at), DType::kInt64), weight};
}

/// torch's lerp, exact at both ends.
Tensor lerp(OpBuilder& b, const Tensor& x, const Tensor& y, const Tensor& weight) {
  const Tensor distance = b.binary("Sub", y, x);
  const Tensor from_x = b.binary("Add", x, b.binary("Mul", weight, distance));
  const Tensor from_y = b.binary("Sub", y, b.binary("Mul", distance, number_with(b, "Sub", 1, weight)));
  return b.where(compare_number(b, "Less", weight, 0.5), from_x, from_y);
}

/// The dimension to look along as the last one; all as one when none is given.
Tensor dim_last(OpBuilder& b, const Tensor& x) {
  if (!b.has("dim") || x.rank() == 0) return b.reshape(x, {x.elements()});
  Ints order = iota(x.rank());
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  order.erase(order.begin() + dim);
  order.push_back(dim);
  return b.transpose(x, order);
}

}  // namespace

void median_of_all(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  if (x.elements() == 0) {
    if (!is_floating(x.dtype)) return b.refuse("the median of no integers");
    return b.bind(b.full(kNaN, b.result()));
  }
  b.bind(b.reshape(median(b, b.reshape(x, {x.elements()}), 0).values, b.result().shape));
}

void median_along(OpBuilder& b) {
  Tensor x = b.tensor("self");
  if (x.rank() == 0) x = b.reshape(x, {1});
  const Sorted found = median(b, x, wrap_dim(b.integer("dim"), x.rank()));
  b.bind(0, b.reshape(found.values, b.result(0).shape));
  b.bind(1, b.reshape(found.indices, b.result(1).shape));
}

void quantile(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor x = dim_last(b, b.operand("self", dtype));
  const Tensor q = b.operand("q", dtype);
  const Tensor flat_q = b.reshape(q, {q.elements()});
  const Tensor ordered = sorted(b, x, {-1}).values;
  const Tensor nan = count_nan(b, x, -1);
  Tensor last = b.constant(x.size(-1) - 1, DType::kInt64);
  if (b.onnx_op() == "without NaN") {
    last = b.binary("Max", b.binary("Sub", last, nan), b.constant(std::int64_t{0}, DType::kInt64));
  }
  Tensor rank = b.binary("Mul", flat_q, b.cast(last, dtype));
  Shape shape = x.shape;
  shape.back() = flat_q.elements();
  rank = b.expand(rank, shape);
  if (b.onnx_op() != "without NaN") {
    // A NaN stands last, and is the answer.
    rank = b.where(compare_number(b, "Greater", nan, 0), b.cast(last, dtype), rank);
  }
  const std::string interpolation = b.text("interpolation");
  const Neighbours near = neighbours_of(b, rank, interpolation);
  Tensor found = b.gather_elements(ordered, near.below, -1);
  if (interpolation == "linear" || interpolation == "midpoint") {
    found = lerp(b, found, b.gather_elements(ordered, near.above, -1), near.weight);
  }
  // [rest, q] to [q, rest]
  Ints order = iota(found.rank() - 1);
  order.insert(order.begin(), found.rank() - 1);
  b.bind(b.reshape(b.transpose(found, order), b.result().shape));
}

/// The most frequent element, the smallest of several; and where it stands last.
void mode(OpBuilder& b) {
  Tensor x = b.tensor("self");
  if (x.rank() == 0) x = b.reshape(x, {1});
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  const Tensor equal = b.compare("Equal", b.unsqueeze(x, {dim}), b.unsqueeze(x, {dim + 1}));
  const Tensor times = b.reduce("ReduceSum", b.cast(equal, DType::kInt32), {dim}, false);
  // A NaN equals nothing, and is there once.
  const Tensor often = b.binary("Max", times, b.constant(std::int64_t{1}, DType::kInt32));
  const Tensor most = b.reduce("ReduceMax", often, {dim}, true);
  const Tensor wins = b.compare("Equal", often, most);
  const Sorted order = sorted(b, x, {dim});
  const Tensor winners = b.cast(b.gather_elements(wins, order.indices, dim), DType::kInt32);
  const Tensor first = b.arg_reduce("ArgMax", winners, dim, true);
  const Tensor value = b.gather_elements(order.values, first, dim);
  const Tensor same = b.cast(b.compare("Equal", x, value), DType::kInt32);
  Shape shape = value.shape;
  const Tensor last =
      b.add("ArgMax", {same}, {DType::kInt64, shape}, {{"axis", dim}, {"select_last_index", std::int64_t{1}}});
  b.bind(0, b.reshape(value, b.result(0).shape));
  b.bind(1, b.reshape(last, b.result(1).shape));
}

}  // namespace leapp::onnx_ops
