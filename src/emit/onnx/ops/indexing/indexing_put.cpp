// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/indexing/indexing_put.h"

#include <algorithm>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/scatter_elements.h"

namespace leapp::onnx_ops {
namespace {

bool is_mask(const Tensor& index) { return index.dtype == DType::kBool || index.dtype == DType::kUInt8; }

/// Positions of what is true, one constant for each dimension of the mask.
Tensors positions_of(OpBuilder& b, const std::vector<Scalar>& mask, const Shape& shape) {
  std::vector<Ints> found(shape.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (to_double(mask[i]) == 0) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      found[dim].push_back(rest % shape[dim]);
      rest /= shape[dim];
    }
  }
  Tensors tensors;
  for (const Ints& positions : found) tensors.push_back(b.ints(positions));
  return tensors;
}

/// The dimensions of x[indices], as where those of plan.shape and of the rest come to stand:
/// result dimension i is dimension order[i] of [plan.shape, rest].
Ints result_order(const Tensor& x, const IndexPlan& plan) {
  const std::int64_t inner = std::ssize(plan.shape);
  const std::int64_t rest = x.rank() - std::ssize(plan.dims);
  const std::int64_t before = plan.side_by_side() ? plan.dims.front() : 0;
  Ints order;
  for (std::int64_t i = 0; i < before; ++i) order.push_back(inner + i);
  for (std::int64_t i = 0; i < inner; ++i) order.push_back(i);
  for (std::int64_t i = before; i < rest; ++i) order.push_back(inner + i);
  return order;
}

Ints inverse(const Ints& order) {
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[at(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

Shape permuted(const Shape& shape, const Ints& order) {
  Shape result;
  for (const std::int64_t dim : order) result.push_back(shape[at(dim)]);
  return result;
}

Tensor sum_of(OpBuilder& b, const Tensor& x, const Tensor& y) {
  return b.binary(x.dtype == DType::kBool ? "Or" : "Add", x, y);
}

/// Adds to the rows of the indexed dimensions taken as one.
Tensor add_at(OpBuilder& b, const Tensor& x, const IndexPlan& plan, const Tensor& updates) {
  const auto indexed = static_cast<std::ptrdiff_t>(plan.dims.size());
  const std::int64_t places = graph::element_count(Shape(x.shape.begin(), x.shape.begin() + indexed));
  const std::int64_t count = graph::element_count(plan.shape);
  Tensor linear = b.constant(std::int64_t{0}, DType::kInt64);
  for (std::size_t i = 0; i < plan.indices.size(); ++i) {
    const Tensor index = wrap_index(b, plan.indices[i], x.shape[i]);
    linear = i == 0 ? index : b.binary("Add", with_number(b, "Mul", linear, static_cast<double>(x.shape[i])), index);
  }
  const std::int64_t width = x.elements() / places;
  const Tensor rows = b.reshape(b.expand(linear, plan.shape), {count});
  const Tensor sum = add_rows(b, b.reshape(x, {places, width}), rows, b.reshape(updates, {count, width}));
  return b.reshape(sum, x.shape);
}

/// x[mask] = values, where no index but the mask is given: chosen element by element.
void put_by_mask(OpBuilder& b, const Tensor& x, std::int64_t dim, const Tensor& mask) {
  Tensor values = b.operand("values", x.dtype);
  const std::int64_t rest = x.rank() - dim - mask.rank();
  // torch broadcasts values to [before, number of true, rest]; only one value for all keeps a fixed shape.
  Shape shape(at(std::max<std::int64_t>(0, dim + 1 + rest - values.rank())), 1);
  shape.insert(shape.end(), values.shape.begin(), values.shape.end());
  if (std::ssize(shape) != dim + 1 + rest || shape[at(dim)] != 1) {
    return b.refuse("as many values as a mask has true elements: their number depends on data");
  }
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, at(mask.rank()), 1);
  values = b.reshape(values, shape);
  Shape aligned = mask.shape;
  aligned.insert(aligned.end(), at(rest), 1);
  const Tensor condition = b.reshape(b.cast(mask, DType::kBool), aligned);
  const Tensor written = b.flag("accumulate") ? sum_of(b, x, values) : b.expand(values, x.shape);
  b.bind(b.where(condition, written, x));
}

}  // namespace

bool IndexPlan::side_by_side() const { return dims.empty() || dims.back() - dims.front() == std::ssize(dims) - 1; }

IndexPlan plan_of(OpBuilder& b, const Tensor& x, const Tensors& indices) {
  IndexPlan plan;
  std::int64_t dim = 0;
  const auto take = [&](const Tensor& index) {
    plan.dims.push_back(dim++);
    plan.indices.push_back(index);
    plan.shape = plan.dims.size() == 1 ? index.shape : broadcast_shapes(plan.shape, index.shape);
  };
  for (const Tensor& index : indices) {
    if (!index.present()) {
      ++dim;
    } else if (!is_mask(index)) {
      take(b.cast(index, DType::kInt64));
    } else if (const auto known = b.known_values(index); known && index.rank() > 0) {
      for (const Tensor& positions : positions_of(b, *known, index.shape)) take(positions);
    } else {
      b.refuse("indexed by a mask: how many elements it chooses depends on data; torch.where keeps the shape");
      return {};
    }
  }
  if (dim > x.rank()) b.fault("more indices than dimensions");
  return plan;
}

Turned indexed_dims_first(OpBuilder& b, const Tensor& x, const IndexPlan& plan) {
  Ints order = plan.dims;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (std::find(plan.dims.begin(), plan.dims.end(), i) == plan.dims.end()) order.push_back(i);
  }
  return {b.transpose(x, order), inverse(order)};
}

Tensor stacked_indices(OpBuilder& b, const IndexPlan& plan) {
  Tensors columns;
  std::vector<std::vector<Scalar>> known;
  for (const Tensor& index : plan.indices) {
    auto values = index.shape == plan.shape ? b.known_values(index) : std::nullopt;
    if (values) known.push_back(std::move(*values));
    columns.push_back(b.unsqueeze(b.expand(index, plan.shape), {-1}));
  }
  if (known.size() != plan.indices.size()) return b.concat(columns, -1);
  std::vector<Scalar> rows;
  for (std::size_t i = 0; i < at(graph::element_count(plan.shape)); ++i) {
    for (const auto& values : known) rows.push_back(values[i]);
  }
  Shape shape = plan.shape;
  shape.push_back(std::ssize(known));
  return b.constant(rows, {DType::kInt64, shape});
}

Tensor index_into(OpBuilder& b, const Tensor& x, const IndexPlan& plan) {
  if (plan.dims.empty()) return x;
  if (plan.dims.size() == 1) return b.gather(x, plan.indices[0], plan.dims[0]);
  const Tensor turned = indexed_dims_first(b, x, plan).x;
  Shape shape = plan.shape;
  shape.insert(shape.end(), turned.shape.begin() + std::ssize(plan.dims), turned.shape.end());
  const Tensor found = b.add("GatherND", {turned, stacked_indices(b, plan)}, {x.dtype, shape});
  return b.transpose(found, result_order(x, plan));
}

Tensor index_put_into(OpBuilder& b, const Tensor& x, const IndexPut& put) {
  const IndexPlan& plan = put.plan;
  if (plan.dims.empty()) {
    const Tensor values = b.expand(put.values, x.shape);
    return put.accumulate ? sum_of(b, x, values) : values;
  }
  const Turned turned = indexed_dims_first(b, x, plan);
  Shape shape = plan.shape;
  shape.insert(shape.end(), turned.x.shape.begin() + std::ssize(plan.dims), turned.x.shape.end());
  if (graph::element_count(shape) == 0) return x;
  const Ints order = result_order(x, plan);
  const Tensor updates = b.transpose(b.expand(put.values, permuted(shape, order)), inverse(order));
  const Tensor written = put.accumulate
                             ? add_at(b, turned.x, plan, updates)
                             : b.add("ScatterND", {turned.x, stacked_indices(b, plan), updates}, turned.x.type());
  return b.transpose(written, turned.back);
}

void index_put(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Tensors indices = b.tensors("indices");
  const auto given = [](const Tensor& index) { return index.present(); };
  const auto first = std::find_if(indices.begin(), indices.end(), given);
  if (std::count_if(indices.begin(), indices.end(), given) == 1 && is_mask(*first)) {
    return put_by_mask(b, x, first - indices.begin(), *first);
  }
  const IndexPlan plan = plan_of(b, x, indices);
  if (!b.ok()) return;
  b.bind(index_put_into(b, x, {plan, b.operand("values", x.dtype), b.flag("accumulate")}));
}

void clamp_indices(OpBuilder& b, const Tensor& x, IndexPlan& plan) {
  for (std::size_t i = 0; i < plan.dims.size(); ++i) {
    const std::int64_t size = x.size(plan.dims[i]);
    const Tensor low = b.constant(-size, DType::kInt64);
    plan.indices[i] = b.clip(plan.indices[i], low, b.constant(size - 1, DType::kInt64));
  }
}

void masked_index_put(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  IndexPlan plan = plan_of(b, x, b.tensors("indices"));
  if (!b.ok()) return;
  clamp_indices(b, x, plan);
  const Tensor zero = b.constant(std::int64_t{0}, x.dtype);
  const Tensor kept = b.where(b.operand("mask", DType::kBool), b.operand("values", x.dtype), zero);
  b.bind(index_put_into(b, x, {plan, kept, true}));
}

}  // namespace leapp::onnx_ops
