// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace_builder.h"

#include <algorithm>

#include "capture/branches/unguarded_variants.h"
#include "capture/hook/op_info.h"
#include "capture/trace/row_counts.h"

namespace leapp::capture {
namespace {

std::int64_t count(c10::IntArrayRef sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

TraceArgument ints(c10::IntArrayRef values) { return TraceArgument::of(c10::IValue(c10::List<std::int64_t>(values))); }
TraceArgument number(std::int64_t value) { return TraceArgument::of(c10::IValue(value)); }
TraceArgument none() { return TraceArgument::of(c10::IValue()); }

}  // namespace

std::shared_ptr<TraceOp> TraceBuilder::make(const OpInfo* info, std::vector<TraceArgument> arguments, bool random) {
  auto op = std::make_shared<TraceOp>();
  op->info = info;
  op->arguments = std::move(arguments);
  op->location = location_;
  op->sequence = ++sequence_;
  op->random = random;
  if (random) op->draw = draw_;
  signature_ += form_of(*op);
  return op;
}

ActivationId TraceBuilder::owner(const TraceOp& op) {
  ActivationId found = 0;
  for_each_operand(op, [&](const ValuePtr& value) {
    if (value->owner == 0 || value->owner == found) return;
    if (found != 0) on_mixed_(current_ ? *current_ : *op.info, op.location, found, value->owner);
    if (found == 0) found = value->owner;
  });
  return found;
}

ValuePtr TraceBuilder::result(const std::shared_ptr<TraceOp>& op, std::size_t index, ValueType type) {
  auto value = std::make_shared<TracedValue>();
  value->kind = TracedKind::kResult;
  value->owner = owner(*op);
  value->type = std::move(type);
  value->rows = rows_of(*op, value->type);
  value->op = op;
  value->index = static_cast<std::uint32_t>(index);
  if (op->results.size() <= index) op->results.resize(index + 1);
  op->results[index] = value->type;
  return value;
}

ValuePtr TraceBuilder::single(const OpInfo* info, std::vector<TraceArgument> arguments, ValueType type) {
  return result(make(info, std::move(arguments)), 0, std::move(type));
}

ValuePtr TraceBuilder::reshape(const ValuePtr& value, c10::IntArrayRef sizes) {
  if (c10::IntArrayRef(value->type.sizes) == sizes) return value;
  static const OpInfo* const info = op_info("aten::reshape", "");
  // A reshape of a reshape is one reshape.
  const bool nested = value->kind == TracedKind::kResult && value->op->info == info;
  const ValuePtr& operand = nested ? value->op->arguments[0].tensor : value;
  if (c10::IntArrayRef(operand->type.sizes) == sizes) return operand;
  return single(info, {TraceArgument::of(operand), ints(sizes)}, {value->type.dtype, c10::DimVector(sizes)});
}

ValuePtr TraceBuilder::permute(const ValuePtr& value, const std::vector<std::int64_t>& dims) {
  static const OpInfo* const info = op_info("aten::permute", "");
  ValueType type{value->type.dtype, {}};
  for (const std::int64_t dim : dims) type.sizes.push_back(value->type.sizes[static_cast<std::size_t>(dim)]);
  return single(info, {TraceArgument::of(value), ints(dims)}, std::move(type));
}

ValuePtr TraceBuilder::expand(const ValuePtr& value, c10::IntArrayRef sizes) {
  if (c10::IntArrayRef(value->type.sizes) == sizes) return value;
  static const OpInfo* const info = op_info("aten::expand", "");
  return single(info, {TraceArgument::of(value), ints(sizes), TraceArgument::of(c10::IValue(false))},
                {value->type.dtype, c10::DimVector(sizes)});
}

ValuePtr TraceBuilder::cast(const ValuePtr& value, at::ScalarType dtype) {
  return value->type.dtype == dtype ? value : cast_always(value, dtype);
}

ValuePtr TraceBuilder::cast_always(const ValuePtr& value, at::ScalarType dtype) {
  static const OpInfo* const info = op_info("aten::to", "dtype");
  return single(info,
                {TraceArgument::of(value), number(static_cast<std::int64_t>(dtype)),
                 TraceArgument::of(c10::IValue(false)), TraceArgument::of(c10::IValue(false)), none()},
                {dtype, value->type.sizes});
}

ValuePtr TraceBuilder::unary(const char* name, const ValuePtr& value) { return unary_as(name, value, value->type); }

ValuePtr TraceBuilder::unary_as(const char* name, const ValuePtr& value, ValueType type) {
  return single(op_info(name, ""), {TraceArgument::of(value)}, std::move(type));
}

ValuePtr TraceBuilder::where(const ValuePtr& condition, const ValuePtr& yes, const ValuePtr& no) {
  static const OpInfo* const info = op_info("aten::where", "self");
  return single(info, {TraceArgument::of(condition), TraceArgument::of(yes), TraceArgument::of(no)}, yes->type);
}

ValuePtr TraceBuilder::full(c10::IntArrayRef sizes, const c10::Scalar& fill, at::ScalarType dtype) {
  static const OpInfo* const info = op_info("aten::full", "");
  return single(info,
                {ints(sizes), TraceArgument::of(c10::IValue(fill)), number(static_cast<std::int64_t>(dtype)), none(),
                 none(), none()},
                {dtype, c10::DimVector(sizes)});
}

ValuePtr TraceBuilder::as_strided(const ValuePtr& flat, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                                  std::int64_t offset) {
  static const OpInfo* const info = op_info("aten::as_strided", "");
  return single(info, {TraceArgument::of(flat), ints(sizes), ints(strides), number(offset)},
                {flat->type.dtype, c10::DimVector(sizes)});
}

ValuePtr TraceBuilder::as_strided_scatter(const ValuePtr& flat, const ValuePtr& source, c10::IntArrayRef sizes,
                                          c10::IntArrayRef strides, std::int64_t offset) {
  static const OpInfo* const info = op_info("aten::as_strided_scatter", "");
  return single(info, {TraceArgument::of(flat), TraceArgument::of(source), ints(sizes), ints(strides), number(offset)},
                flat->type);
}

ValuePtr TraceBuilder::reinterpret(const ValuePtr& flat, at::ScalarType dtype) {
  const at::ScalarType from = flat->type.dtype;
  if (from == dtype) return flat;
  const std::int64_t bytes = count(flat->type.sizes) * static_cast<std::int64_t>(c10::elementSize(from));
  const auto item = static_cast<std::int64_t>(c10::elementSize(dtype));
  TORCH_CHECK(bytes % item == 0, "LEAPP cannot read ", bytes, " bytes of memory as ", dtype_text(dtype));
  if (c10::isComplexType(from) && c10::toRealValueType(from) == dtype) {
    const std::int64_t elements = count(flat->type.sizes);
    static const OpInfo* const info = op_info("aten::view_as_real", "");
    return reshape(single(info, {TraceArgument::of(flat)}, {dtype, {elements, 2}}), {elements * 2});
  }
  if (c10::isComplexType(dtype) && c10::toRealValueType(dtype) == from) {
    const std::int64_t elements = bytes / item;
    static const OpInfo* const info = op_info("aten::view_as_complex", "");
    return single(info, {TraceArgument::of(reshape(flat, {elements, 2}))}, {dtype, {elements}});
  }
  static const OpInfo* const info = op_info("aten::view", "dtype");
  return single(info, {TraceArgument::of(flat), number(static_cast<std::int64_t>(dtype))}, {dtype, {bytes / item}});
}

}  // namespace leapp::capture
