// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor with some elements replaced or added to; writing by lists of indices is in indexing_put.cpp.
#include <algorithm>
#include <array>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/scatter_elements.h"

namespace leapp::onnx_ops {
namespace {

/// The first elements of `x` in every dimension, as many as `shape` says.
Tensor corner(OpBuilder& b, Tensor x, const Shape& shape) {
  for (std::int64_t i = 0; i < x.rank(); ++i) x = b.slice(x, i, 0, shape[static_cast<std::size_t>(i)]);
  return x;
}

/// The operands of the scatter family: self, dim, index and src or value.
Scatter scatter_operands(OpBuilder& b) {
  Scatter s;
  s.data = b.tensor("self");
  s.index = b.operand("index", DType::kInt64);
  s.dim = b.integer("dim");
  if (b.has("value")) {
    s.updates = b.full(b.scalar("value"), {s.data.dtype, s.index.shape});
    return s;
  }
  s.updates = b.cast(b.tensor("src"), s.data.dtype);
  // A 0-d tensor stands for one of one element.
  if (s.updates.rank() != s.index.rank()) s.updates = b.reshape(s.updates, s.index.shape);
  s.updates = corner(b, s.updates, s.index.shape);
  if (s.index.rank() != s.data.rank() && s.index.elements() != 0) {
    s.index = b.reshape(s.index, s.data.shape);
    s.updates = b.reshape(s.updates, s.data.shape);
  }
  return s;
}

void scatter(OpBuilder& b) { b.bind(scatter_elements(b, scatter_operands(b), ScatterMode::kNone)); }

void scatter_add(OpBuilder& b) { b.bind(scatter_elements(b, scatter_operands(b), ScatterMode::kAdd)); }

/// scatter(..., reduce="add" | "multiply")
void scatter_combine(OpBuilder& b) {
  const bool product = b.text("reduce") == "multiply";
  b.bind(scatter_elements(b, scatter_operands(b), product ? ScatterMode::kMul : ScatterMode::kAdd));
}

void scatter_reduce_op(OpBuilder& b) {
  b.bind(scatter_reduce(b, scatter_operands(b), {b.text("reduce"), b.flag("include_self")}));
}

/// index_add, index_copy, index_fill, index_reduce: one index for whole slices.
Scatter slice_operands(OpBuilder& b) {
  Scatter s;
  s.data = b.tensor("self");
  const Tensor index = b.operand("index", DType::kInt64);
  s.dim = wrap_dim(b.integer("dim"), s.data.rank());
  Shape shape = s.data.shape;
  if (shape.empty()) shape = {index.elements()};
  shape[static_cast<std::size_t>(s.dim)] = index.elements();
  if (b.has("source")) {
    s.updates = b.reshape(b.cast(b.tensor("source"), s.data.dtype), shape);
  } else {
    s.updates = b.expand(b.reshape(b.operand("value", s.data.dtype), {}), shape);
  }
  Shape aligned(shape.size(), 1);
  aligned[static_cast<std::size_t>(s.dim)] = index.elements();
  s.index = b.expand(b.reshape(index, aligned), shape);
  return s;
}

void index_add(OpBuilder& b) {
  Scatter s = slice_operands(b);
  if (to_double(b.scalar("alpha")) != 1) {
    const Tensor alpha = b.constant(b.scalar("alpha"), s.updates.dtype);
    s.updates = b.binary(s.updates.dtype == DType::kBool ? "And" : "Mul", s.updates, alpha);
  }
  b.bind(scatter_elements(b, s, ScatterMode::kAdd));
}

void index_write(OpBuilder& b) { b.bind(scatter_elements(b, slice_operands(b), ScatterMode::kNone)); }

void index_reduce(OpBuilder& b) {
  b.bind(scatter_reduce(b, slice_operands(b), {b.text("reduce"), b.flag("include_self")}));
}

/// The flattened tensor, written at flat positions.
void put(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Tensor index = b.operand("index", DType::kInt64);
  if (index.elements() == 0) return b.bind(x);
  const Tensor flat = b.reshape(x, {x.elements()});
  const Tensor places = b.reshape(wrap_index(b, index, x.elements()), {index.elements()});
  const Tensor source = b.reshape(b.operand("source", x.dtype), {index.elements()});
  const ScatterMode reduction = b.flag("accumulate") ? ScatterMode::kAdd : ScatterMode::kNone;
  b.bind(b.reshape(scatter_elements(b, {flat, places, source, 0}, reduction), x.shape));
}

/// self[..., start:end:step, ...] = src
void slice_scatter(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  const std::int64_t size = x.size(dim);
  const auto bound = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t index = b.has(name) ? b.integer(name) : otherwise;
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const std::int64_t start = bound("start", 0);
  const std::int64_t end = std::max(start, bound("end", std::numeric_limits<std::int64_t>::max()));
  const std::int64_t step = b.integer("step");
  const std::int64_t count = (end - start + step - 1) / step;
  if (count == 0) return b.bind(x);
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(dim)] = count;
  const Tensor src = b.expand(b.cast(b.tensor("src"), x.dtype), shape);
  if (step == 1) {
    Tensors parts;
    if (start > 0) parts.push_back(b.slice(x, dim, 0, start));
    parts.push_back(src);
    if (end < size) parts.push_back(b.slice(x, dim, end, size));
    return b.bind(b.concat(parts, dim));
  }
  Ints positions = iota(size);
  for (std::int64_t i = 0; i < count; ++i) positions[static_cast<std::size_t>(start + i * step)] = size + i;
  b.bind(merge_along(b, x, src, positions, dim));
}

void select_scatter(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  const std::int64_t size = x.size(dim);
  const std::int64_t index = b.integer("index") + (b.integer("index") < 0 ? size : 0);
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(dim)] = 1;
  const Tensor src = b.reshape(b.cast(b.tensor("src"), x.dtype), shape);
  Tensors parts;
  if (index > 0) parts.push_back(b.slice(x, dim, 0, index));
  parts.push_back(src);
  if (index + 1 < size) parts.push_back(b.slice(x, dim, index + 1, size));
  b.bind(b.concat(parts, dim));
}

void diagonal_scatter(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t first = wrap_dim(b.integer("dim1"), x.rank());
  const std::int64_t second = wrap_dim(b.integer("dim2"), x.rank());
  const std::int64_t offset = b.integer("offset");
  Ints order;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (i != first && i != second) order.push_back(i);
  }
  order.insert(order.end(), {first, second});
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  const Tensor turned = b.transpose(x, order);
  const std::int64_t rows = x.size(first);
  const std::int64_t columns = x.size(second);
  Shape flat(turned.shape.begin(), turned.shape.end() - 2);
  flat.push_back(rows * columns);
  Ints positions = iota(rows * columns);
  const std::int64_t row = std::max<std::int64_t>(0, -offset);
  const std::int64_t column = std::max<std::int64_t>(0, offset);
  const Tensor src = b.cast(b.tensor("src"), x.dtype);
  for (std::int64_t i = 0; i < src.size(-1); ++i) {
    positions[static_cast<std::size_t>((row + i) * columns + column + i)] = rows * columns + i;
  }
  if (src.elements() == 0) return b.bind(x);
  const Tensor merged = merge_along(b, b.reshape(turned, flat), src, positions, -1);
  b.bind(b.transpose(b.reshape(merged, turned.shape), back));
}

/// Geometry over a flat storage: every element comes from the storage or from `src`.
void as_strided_scatter(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Tensor src = b.cast(b.tensor("src"), x.dtype);
  const Ints size = b.integers("size");
  const Ints stride = b.integers("stride");
  if (src.elements() == 0) return b.bind(x);
  Ints places = {b.has("storage_offset") ? b.integer("storage_offset") : 0};
  for (std::size_t i = 0; i < size.size(); ++i) {
    Ints next;
    for (const std::int64_t place : places) {
      for (std::int64_t k = 0; k < size[i]; ++k) next.push_back(place + k * stride[i]);
    }
    places = std::move(next);
  }
  Ints positions = iota(x.elements());
  for (std::size_t i = 0; i < places.size(); ++i) {
    positions[static_cast<std::size_t>(places[i])] = x.elements() + static_cast<std::int64_t>(i);
  }
  const Tensor flat = b.reshape(x, {x.elements()});
  b.bind(b.reshape(merge_along(b, flat, b.reshape(src, {src.elements()}), positions, 0), x.shape));
}

/// Elements of the source, in order, to where the mask is true.
void masked_scatter(OpBuilder& b) {
  const Shape& shape = b.result().shape;
  const std::int64_t count = graph::element_count(shape);
  const Tensor x = b.expand(b.tensor("self"), shape);
  const Tensor source = b.cast(b.tensor("source"), x.dtype);
  if (source.elements() == 0) return b.bind(x);
  const Tensor mask = b.expand(b.operand("mask", DType::kBool), shape);
  const Tensor ones = b.reshape(b.cast(mask, DType::kInt64), {count});
  const Tensor so_far = b.add("CumSum", {ones, b.constant(std::int64_t{0}, DType::kInt64)}, ones.type());
  const Tensor zero = b.constant(std::int64_t{0}, DType::kInt64);
  const Tensor last = b.constant(source.elements() - 1, DType::kInt64);
  const Tensor places = b.clip(with_number(b, "Sub", so_far, 1), zero, last);
  const Tensor taken = b.gather(b.reshape(source, {source.elements()}), places, 0);
  b.bind(b.where(mask, b.reshape(taken, shape), x));
}

constexpr std::array kScatterOps = {
    EmitEntry{"aten::as_strided_scatter", as_strided_scatter},
    EmitEntry{"aten::diagonal_scatter", diagonal_scatter},
    EmitEntry{"aten::index_add", index_add},
    EmitEntry{"aten::index_copy", index_write},
    EmitEntry{"aten::index_fill.int_Scalar", index_write},
    EmitEntry{"aten::index_fill.int_Tensor", index_write},
    EmitEntry{"aten::index_reduce", index_reduce},
    EmitEntry{"aten::masked_scatter", masked_scatter},
    EmitEntry{"aten::put", put},
    EmitEntry{"aten::scatter.reduce", scatter_combine},
    EmitEntry{"aten::scatter.src", scatter},
    EmitEntry{"aten::scatter.value", scatter},
    EmitEntry{"aten::scatter.value_reduce", scatter_combine},
    EmitEntry{"aten::scatter_add", scatter_add},
    EmitEntry{"aten::scatter_reduce.two", scatter_reduce_op},
    EmitEntry{"aten::select_scatter", select_scatter},
    EmitEntry{"aten::slice_scatter", slice_scatter},
};

}  // namespace

EmitEntries scatter_ops() { return kScatterOps; }

}  // namespace leapp::onnx_ops
