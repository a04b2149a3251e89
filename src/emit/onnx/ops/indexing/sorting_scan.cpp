// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Every element combined with all before it. What has no ONNX operator doubles the reach in each step: after step s an
// element holds the 2^s elements that end with it, so log2(n) steps do.
#include <functional>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/sorting_order.h"

namespace leapp::onnx_ops {
namespace {

/// What came before, and what comes after it, element by element.
using Combine = std::function<Tensors(const Tensors& earlier, const Tensors& later)>;

Tensors scan(OpBuilder& b, Tensors values, std::int64_t dim, const Combine& combine) {
  const std::int64_t size = values[0].size(dim);
  for (std::int64_t reach = 1; reach < size; reach *= 2) {
    Tensors earlier;
    Tensors later;
    for (const Tensor& value : values) {
      earlier.push_back(b.slice(value, dim, 0, size - reach));
      later.push_back(b.slice(value, dim, reach, size));
    }
    const Tensors combined = combine(earlier, later);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = b.concat({b.slice(values[i], dim, 0, reach), combined[i]}, dim);
    }
  }
  return values;
}

Tensor at_least_one_dim(OpBuilder& b, const Tensor& x) { return x.rank() == 0 ? b.reshape(x, {1}) : x; }

/// log(e^x + e^y) without leaving the range of numbers.
Tensor log_add_exp(OpBuilder& b, const Tensor& x, const Tensor& y) {
  const Tensor larger = b.binary("Max", x, y);
  const Tensor distance = b.binary("Sub", b.binary("Min", x, y), larger);
  const Tensor sum = b.binary("Add", larger, log_of_one_plus(b, b.unary("Exp", distance)));
  return b.where(is_inf(b, larger), larger, sum);
}

}  // namespace

void cumulative_sum(OpBuilder& b) {
  const Tensor x = at_least_one_dim(b, b.operand("self", b.result().dtype));
  const bool half = is_half(x.dtype);
  const Tensor wide = half ? b.cast(x, DType::kFloat32) : x;
  const Tensor axis = b.constant(wrap_dim(b.integer("dim"), x.rank()), DType::kInt64);
  b.bind(b.reshape(b.cast(b.add("CumSum", {wide, axis}, wide.type()), x.dtype), b.result().shape));
}

void cumulative_product(OpBuilder& b) {
  const Tensor x = at_least_one_dim(b, b.operand("self", b.result().dtype));
  const Tensor wide = is_half(x.dtype) ? b.cast(x, DType::kFloat32) : x;
  const auto multiply = [&b](const Tensors& earlier, const Tensors& later) {
    return Tensors{b.binary("Mul", earlier[0], later[0])};
  };
  const Tensor product = scan(b, {wide}, wrap_dim(b.integer("dim"), x.rank()), multiply)[0];
  b.bind(b.reshape(b.cast(product, x.dtype), b.result().shape));
}

/// cummax, cummin: the last of equals, and NaN for good.
void cumulative_extreme(OpBuilder& b) {
  const Tensor x = at_least_one_dim(b, b.tensor("self"));
  const bool truth = x.dtype == DType::kBool;
  const Tensor start = truth ? b.cast(x, DType::kInt32) : x;
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  Shape along(x.shape.size(), 1);
  along[static_cast<std::size_t>(dim)] = x.size(dim);
  const Tensor positions = b.expand(b.ints(iota(x.size(dim)), along), x.shape);
  const auto choose = [&](const Tensors& earlier, const Tensors& later) {
    Tensor takes_later = b.compare(b.onnx_op(), later[0], earlier[0]);
    if (is_floating(x.dtype)) {
      const Tensor keeps = b.logical_not(is_nan(b, earlier[0]));
      takes_later = b.binary("Or", is_nan(b, later[0]), b.binary("And", keeps, takes_later));
    }
    return Tensors{b.where(takes_later, later[0], earlier[0]), b.where(takes_later, later[1], earlier[1])};
  };
  const Tensors found = scan(b, {start, positions}, dim, choose);
  b.bind(0, b.reshape(b.cast(found[0], x.dtype), b.result(0).shape));
  b.bind(1, b.reshape(found[1], b.result(1).shape));
}

void log_cumulative_sum_exp(OpBuilder& b) {
  const Tensor x = at_least_one_dim(b, b.tensor("self"));
  const Tensor wide = is_half(x.dtype) ? b.cast(x, DType::kFloat32) : x;
  const auto combine = [&b](const Tensors& earlier, const Tensors& later) {
    return Tensors{log_add_exp(b, earlier[0], later[0])};
  };
  const Tensor found = scan(b, {wide}, wrap_dim(b.integer("dim"), x.rank()), combine)[0];
  b.bind(b.reshape(b.cast(found, x.dtype), b.result().shape));
}

void difference(OpBuilder& b) {
  Tensor x = b.tensor("self");
  const DType dtype = b.result().dtype;
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  Tensors parts;
  if (b.has("prepend")) parts.push_back(b.operand("prepend", dtype));
  parts.push_back(b.cast(x, dtype));
  if (b.has("append")) parts.push_back(b.operand("append", dtype));
  x = b.concat(parts, dim);
  for (std::int64_t i = 0; i < b.integer("n"); ++i) {
    const std::int64_t size = x.size(dim);
    x = b.binary(dtype == DType::kBool ? "Xor" : "Sub", b.slice(x, dim, 1, size), b.slice(x, dim, 0, size - 1));
  }
  b.bind(x);
}

}  // namespace leapp::onnx_ops
