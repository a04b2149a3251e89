// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {
namespace {

std::int64_t& at(Shape& shape, std::int64_t index) { return shape[static_cast<std::size_t>(index)]; }

}  // namespace

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
  return dim < 0 ? dim + std::max<std::int64_t>(rank, 1) : dim;
}

Ints wrap_dims(const Ints& dims, std::int64_t rank) {
  if (dims.empty()) return iota(rank);
  Ints wrapped;
  for (const std::int64_t dim : dims) wrapped.push_back(wrap_dim(dim, rank));
  std::sort(wrapped.begin(), wrapped.end());
  return wrapped;
}

Ints iota(std::int64_t count) {
  Ints numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    shape[shape.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return shape;
}

Tensor OpBuilder::reshape(const Tensor& x, const Shape& shape) {
  if (x.shape == shape) return x;
  if (x.elements() != graph::element_count(shape)) fault("a reshape changes the number of elements");
  // Nothing to move; and Reshape reads a zero as "as before" in old opsets.
  if (x.elements() == 0) return constant(std::vector<Scalar>{}, {x.dtype, shape});
  return add("Reshape", {x, ints(shape)}, {x.dtype, shape});
}

Tensor OpBuilder::transpose(const Tensor& x, const Ints& order) {
  if (order == iota(x.rank())) return x;
  Shape shape;
  for (const std::int64_t dim : order) shape.push_back(x.size(dim));
  return add("Transpose", {x}, {x.dtype, shape}, {{"perm", order}});
}

Tensor OpBuilder::swap_dims(const Tensor& x, std::int64_t first, std::int64_t second) {
  if (x.rank() < 2) return x;
  Ints order = iota(x.rank());
  std::swap(at(order, wrap_dim(first, x.rank())), at(order, wrap_dim(second, x.rank())));
  return transpose(x, order);
}

Tensor OpBuilder::unsqueeze(const Tensor& x, const Ints& dims) {
  if (dims.empty()) return x;
  const Ints axes = wrap_dims(dims, x.rank() + std::ssize(dims));
  Shape shape = x.shape;
  for (const std::int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return add("Unsqueeze", {x, ints(axes)}, {x.dtype, shape});
}

Tensor OpBuilder::squeeze(const Tensor& x, const Ints& dims) {
  if (dims.empty() || x.rank() == 0) return x;
  const Ints axes = wrap_dims(dims, x.rank());
  Shape shape;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) shape.push_back(x.size(i));
  }
  return add("Squeeze", {x, ints(axes)}, {x.dtype, shape});
}

Tensor OpBuilder::expand(const Tensor& x, const Shape& shape) {
  if (x.shape == shape) return x;
  if (graph::element_count(shape) == 0) return constant(std::vector<Scalar>{}, {x.dtype, shape});
  return add("Expand", {x, ints(shape)}, {x.dtype, shape});
}

Tensor OpBuilder::slice(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  const std::int64_t size = x.size(axis);
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? size : size - 1;
  const auto bounded = [&](std::int64_t index) { return std::clamp(index < 0 ? index + size : index, low, high); };
  const std::int64_t first = bounded(start);
  const std::int64_t last = bounded(end);
  if (step == 1 && first == 0 && last == size) return x;
  const std::int64_t distance = step > 0 ? last - first : first - last;
  const std::int64_t stride = std::abs(step);
  Shape shape = x.shape;
  at(shape, axis) = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  if (graph::element_count(shape) == 0) return constant(std::vector<Scalar>{}, {x.dtype, shape});
  // Going down to the first element, the end stands before it: -1 would count from the back.
  const std::int64_t stop = last < 0 ? std::numeric_limits<std::int64_t>::min() : last;
  return add("Slice", {x, ints({first}), ints({stop}), ints({axis}), ints({step})}, {x.dtype, shape});
}

Tensor OpBuilder::select(const Tensor& x, std::int64_t dim, std::int64_t index) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  return gather(x, constant(index < 0 ? index + x.size(axis) : index, DType::kInt64), axis);
}

Tensor OpBuilder::gather(const Tensor& x, const Tensor& indices, std::int64_t dim) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return add("Gather", {x, indices}, {x.dtype, shape}, {{"axis", axis}});
}

Tensor OpBuilder::gather_elements(const Tensor& x, const Tensor& indices, std::int64_t dim) {
  return add("GatherElements", {x, indices}, {x.dtype, indices.shape}, {{"axis", wrap_dim(dim, x.rank())}});
}

Tensor OpBuilder::concat(const Tensors& parts, std::int64_t dim) {
  if (parts.size() == 1) return parts[0];
  const std::int64_t axis = wrap_dim(dim, parts[0].rank());
  Shape shape = parts[0].shape;
  at(shape, axis) = 0;
  for (const Tensor& part : parts) at(shape, axis) += part.size(axis);
  return add("Concat", parts, {parts[0].dtype, shape}, {{"axis", axis}});
}

Tensors OpBuilder::split(const Tensor& x, std::int64_t dim, const Ints& sizes) {
  if (sizes.size() == 1) return {x};
  const std::int64_t axis = wrap_dim(dim, x.rank());
  std::vector<TensorType> types;
  for (const std::int64_t size : sizes) {
    types.push_back(x.type());
    at(types.back().shape, axis) = size;
  }
  return add_many("Split", {x, ints(sizes)}, types, {{"axis", axis}});
}

Tensor OpBuilder::pad(const Tensor& x, const Ints& before, const Ints& after, const std::string& mode,
                      const Scalar& fill) {
  Shape shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] += before[i] + after[i];
  if (shape == x.shape && std::all_of(before.begin(), before.end(), [](std::int64_t n) { return n == 0; })) return x;
  Ints amounts = before;
  amounts.insert(amounts.end(), after.begin(), after.end());
  Tensors inputs = {x, ints(amounts)};
  if (mode == "constant") inputs.push_back(constant(fill, x.dtype));
  return add("Pad", inputs, {x.dtype, shape}, {{"mode", mode}});
}

}  // namespace leapp::onnx_ops
