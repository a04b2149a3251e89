// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/indexing/scatter_elements.h"

#include <algorithm>
#include <limits>

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

Scalar identity_of(ScatterMode reduction, DType dtype) {
  switch (reduction) {
    case ScatterMode::kMul:
      return std::int64_t{1};
    case ScatterMode::kMax:
      return extreme_number(dtype, false);
    case ScatterMode::kMin:
      return extreme_number(dtype, true);
    default:
      return std::int64_t{0};
  }
}

struct Names {
  const char* attribute;
  const char* over_dims;
  const char* of_two;
};

Names names_of(ScatterMode reduction) {
  switch (reduction) {
    case ScatterMode::kMul:
      return {"mul", "ReduceProd", "Mul"};
    case ScatterMode::kMax:
      return {"max", "ReduceMax", "Max"};
    case ScatterMode::kMin:
      return {"min", "ReduceMin", "Min"};
    default:
      return {"add", "ReduceSum", "Add"};
  }
}

bool opset_reduces(int opset, ScatterMode reduction) {
  if (reduction == ScatterMode::kNone) return true;
  const bool extreme = reduction == ScatterMode::kMax || reduction == ScatterMode::kMin;
  return opset >= (extreme ? 18 : 16);
}

Tensor node(OpBuilder& b, const Scatter& s, ScatterMode reduction) {
  Attributes attributes = {{"axis", s.dim}};
  if (reduction != ScatterMode::kNone) attributes.push_back({"reduction", std::string(names_of(reduction).attribute)});
  return b.add("ScatterElements", {s.data, s.index, s.updates}, s.data.type(), std::move(attributes));
}

/// For opsets whose ScatterElements overwrites only: every place against every update.
Tensor spelled_out(OpBuilder& b, const Scatter& s, ScatterMode reduction) {
  const Names names = names_of(reduction);
  const Scalar nothing = identity_of(reduction, s.data.dtype);
  const std::int64_t places = s.data.size(s.dim);
  Shape column(static_cast<std::size_t>(s.data.rank() - s.dim + 1), 1);
  column.front() = places;
  const Tensor mask = b.compare("Equal", b.unsqueeze(s.index, {s.dim}), b.ints(iota(places), column));
  const Tensor spread = b.where(mask, b.unsqueeze(s.updates, {s.dim}), b.constant(nothing, s.data.dtype));
  const Tensor found = b.reduce(names.over_dims, spread, {s.dim + 1}, false);
  const Ints before(static_cast<std::size_t>(s.data.rank()), 0);
  Ints after = before;
  for (std::size_t i = 0; i < after.size(); ++i) after[i] = s.data.shape[i] - found.shape[i];
  return b.binary(names.of_two, s.data, b.pad(found, before, after, "constant", nothing));
}

/// The kernels' max and min may lose NaN; torch's keep it.
Tensor keeping_nan(OpBuilder& b, const Scatter& s, const Tensor& found) {
  const auto flags = [&](const Tensor& x) { return b.cast(is_nan(b, x), DType::kInt32); };
  const Tensor nan = scatter_elements(b, {flags(s.data), s.index, flags(s.updates), s.dim}, ScatterMode::kMax);
  const Tensor value = b.constant(std::numeric_limits<double>::quiet_NaN(), found.dtype);
  return b.where(compare_number(b, "Greater", nan, 0), value, found);
}

Tensor mean_of(OpBuilder& b, const Scatter& s, const Scatter& sums) {
  const Tensor total = scatter_elements(b, sums, ScatterMode::kAdd);
  // `sums.data` is zero where an update replaces it, so the count starts there at zero as well.
  const bool replaced = sums.data.id != s.data.id;
  const Tensor ones = b.full(std::int64_t{1}, s.data.type());
  const Tensor one_each = b.full(std::int64_t{1}, s.updates.type());
  Tensor start = ones;
  if (replaced) {
    const Tensor zero_each = b.full(std::int64_t{0}, s.updates.type());
    start = scatter_elements(b, {ones, s.index, zero_each, s.dim}, ScatterMode::kNone);
  }
  const Tensor count = scatter_elements(b, {start, s.index, one_each, s.dim}, ScatterMode::kAdd);
  const Tensor quotient = b.binary("Div", total, count);
  if (is_floating(s.data.dtype)) return quotient;
  // Down, where Div goes toward zero.
  const Tensor rest = b.binary("Sub", total, b.binary("Mul", quotient, count));
  return b.binary("Sub", quotient, b.cast(compare_number(b, "Less", rest, 0), quotient.dtype));
}

}  // namespace

Scalar extreme_number(DType dtype, bool highest) {
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return highest ? infinity : -infinity;
  }
  if (dtype == DType::kBool) return highest;
  if (dtype == DType::kInt64) {
    using Limits = std::numeric_limits<std::int64_t>;
    return highest ? Limits::max() : Limits::min();
  }
  return static_cast<std::int64_t>(highest ? highest_of(dtype) : lowest_of(dtype));
}

DType accumulation_dtype(DType dtype) {
  if (is_half(dtype)) return DType::kFloat32;
  if (is_floating(dtype) || dtype == DType::kInt64 || dtype == DType::kUInt64) return dtype;
  return dtype == DType::kUInt32 ? DType::kInt64 : DType::kInt32;
}

Tensor scatter_elements(OpBuilder& b, const Scatter& scatter, ScatterMode reduction) {
  Scatter s = scatter;
  if (s.index.elements() == 0) return s.data;
  const DType dtype = s.data.dtype;
  const Shape shape = s.data.shape;
  if (s.data.rank() == 0) {
    for (Tensor* tensor : {&s.data, &s.index, &s.updates}) *tensor = b.reshape(*tensor, {1});
  }
  s.dim = wrap_dim(s.dim, s.data.rank());
  if (reduction != ScatterMode::kNone) {
    s.data = b.cast(s.data, accumulation_dtype(dtype));
    s.updates = b.cast(s.updates, s.data.dtype);
  }
  Tensor found = opset_reduces(b.opset(), reduction) ? node(b, s, reduction) : spelled_out(b, s, reduction);
  const bool extreme = reduction == ScatterMode::kMax || reduction == ScatterMode::kMin;
  if (extreme && is_floating(dtype)) found = keeping_nan(b, s, found);
  return b.reshape(b.cast(found, dtype), shape);
}

Tensor scatter_reduce(OpBuilder& b, const Scatter& scatter, const ScatterReduce& options) {
  const DType dtype = scatter.data.dtype;
  Scatter s = scatter;
  // One rounding at the end, and no wrapping around between.
  s.data = b.cast(s.data, accumulation_dtype(dtype));
  s.updates = b.cast(s.updates, s.data.dtype);
  const std::string& name = options.reduce;
  const ScatterMode reduction = name == "prod"   ? ScatterMode::kMul
                                : name == "amax" ? ScatterMode::kMax
                                : name == "amin" ? ScatterMode::kMin
                                                 : ScatterMode::kAdd;
  Scatter from = s;
  if (!options.include_self && s.index.elements() != 0) {
    const Tensor nothing = b.full(identity_of(reduction, s.data.dtype), s.updates.type());
    from.data = scatter_elements(b, {s.data, s.index, nothing, s.dim}, ScatterMode::kNone);
  }
  return b.cast(name == "mean" ? mean_of(b, s, from) : scatter_elements(b, from, reduction), dtype);
}

Tensor add_rows(OpBuilder& b, const Tensor& data, const Tensor& index, const Tensor& updates) {
  const Tensor rows = b.expand(b.unsqueeze(index, {-1}), updates.shape);
  return scatter_elements(b, {data, rows, updates, 0}, ScatterMode::kAdd);
}

Tensor wrap_index(OpBuilder& b, const Tensor& index, std::int64_t size) {
  if (const auto known = b.known_values(index)) {
    Ints wrapped;
    for (const Scalar& value : *known) wrapped.push_back(to_int64(value) + (to_int64(value) < 0 ? size : 0));
    return b.ints(wrapped, index.shape);
  }
  const Tensor from_end = b.binary("Add", index, b.constant(size, DType::kInt64));
  return b.where(compare_number(b, "Less", index, 0), from_end, index);
}

Tensor merge_along(OpBuilder& b, const Tensor& data, const Tensor& updates, const Ints& positions, std::int64_t dim) {
  return b.gather(b.concat({data, updates}, dim), b.ints(positions), dim);
}

}  // namespace leapp::onnx_ops
