// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/dynamic_views.h"

#include <ATen/Functions.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

at::Tensor own_alias(const at::Tensor& tensor) {
  return at::Tensor::wrap_tensor_impl(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
      /*version_counter=*/0, /*allow_tensor_metadata_change=*/true));
}

/// Indices with nothing before dimension `dim`.
TraceArgument along(std::int64_t dim, const ValuePtr& index) {
  std::vector<ValuePtr> indices(static_cast<std::size_t>(dim));
  indices.push_back(index);
  return TraceArgument::of(std::move(indices));
}

ValuePtr index_along(const ValuePtr& value, std::int64_t dim, const ValuePtr& index, ValueType type,
                     TraceBuilder& builder) {
  static const OpInfo* const info = op_info("aten::index", "Tensor");
  return builder.result(builder.make(info, {TraceArgument::of(value), along(dim, index)}), 0, std::move(type));
}

ValuePtr put_along(const ValuePtr& value, std::int64_t dim, const ValuePtr& index, const ValuePtr& source,
                   TraceBuilder& builder) {
  static const OpInfo* const info = op_info("aten::index_put", "");
  return builder.result(builder.make(info, {TraceArgument::of(value), along(dim, index), TraceArgument::of(source),
                                            TraceArgument::of(c10::IValue(false))}),
                        0, value->type);
}

/// The byte offsets of the elements, in row-major order.
std::vector<std::int64_t> offsets_of(const Geometry& place) {
  std::vector<std::int64_t> offsets{place.byte_offset};
  for (std::size_t dim = 0; dim < place.sizes.size(); ++dim) {
    std::vector<std::int64_t> finer;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < place.sizes[dim]; ++i)
        finer.push_back(offset + i * place.strides[dim] * place.item_size());
    }
    offsets = std::move(finer);
  }
  return offsets;
}

/// Which elements of `whole`, counted in row-major order, `part` is made of.
ValuePtr positions(const Geometry& whole, const Geometry& part, TraceBuilder& builder) {
  std::unordered_map<std::int64_t, std::int64_t> counted;
  for (const std::int64_t offset : offsets_of(whole))
    counted.emplace(offset, static_cast<std::int64_t>(counted.size()));
  const Suppress quiet;
  const std::vector<std::int64_t> wanted = offsets_of(part);
  at::Tensor found = at::empty({static_cast<std::int64_t>(wanted.size())}, at::kLong);
  auto* next = found.mutable_data_ptr<std::int64_t>();
  for (const std::int64_t offset : wanted) {
    const auto at = counted.find(offset);
    TORCH_CHECK(at != counted.end(), "a view of a view at a tensor's index lies outside of it");
    *next++ = at->second;
  }
  return constant_of(std::move(found), builder.location());
}

ValuePtr flat(const ValuePtr& value, TraceBuilder& builder) {
  std::int64_t count = 1;
  for (const std::int64_t size : value->type.sizes) count *= size;
  return builder.reshape(value, {count});
}

/// The number that `op` adds to its first operand.
std::optional<std::int64_t> addend(const TraceOp& op) {
  const std::string& name = op.info->name();
  if ((name != "aten::add" && name != "aten::sub") || op.arguments.size() < 2) return std::nullopt;
  const TraceArgument& other = op.arguments[1];
  if (other.kind != TraceArgument::Kind::kAttribute || !other.attribute.isInt()) return std::nullopt;
  const bool scaled =
      op.arguments.size() > 2 && !(op.arguments[2].attribute.isInt() && op.arguments[2].attribute.toInt() == 1);
  if (scaled) return std::nullopt;
  return name == "aten::sub" ? -other.attribute.toInt() : other.attribute.toInt();
}

}  // namespace

ValuePtr DynamicView::read(const ValuePtr& before, TraceBuilder& builder) const {
  if (index) return builder.reshape(index_along(before, dim, index, type_in_place, builder), type.sizes);
  const ValuePtr where = positions(parent->geometry, geometry, builder);
  const ValueType line{type.dtype, where->type.sizes};
  return builder.reshape(index_along(flat(before, builder), 0, where, line, builder), type.sizes);
}

ValuePtr DynamicView::write(const ValuePtr& before, const ValuePtr& value, TraceBuilder& builder) const {
  if (index) return put_along(before, dim, index, builder.reshape(value, type_in_place.sizes), builder);
  const ValuePtr where = positions(parent->geometry, geometry, builder);
  const ValuePtr all = put_along(flat(before, builder), 0, where, flat(value, builder), builder);
  return builder.reshape(all, before->type.sizes);
}

DynamicViews::Ptr DynamicViews::find(const at::Tensor& tensor) const {
  const auto found = views_.find(tensor.unsafeGetTensorImpl());
  return found == views_.end() ? nullptr : found->second.view;
}

void DynamicViews::add(const at::Tensor& view, const at::Tensor& base, const DynamicPlace& place, std::uintptr_t range,
                       TraceBuilder& builder) {
  auto made = std::make_shared<DynamicView>();
  made->parent = find(base);
  if (!made->parent) made->base = own_alias(base);
  made->geometry = geometry_of(view, range);
  made->type = type_of(view);
  made->dim = place.dim;
  made->type_in_place = type_of(base);
  made->type_in_place.sizes[static_cast<std::size_t>(place.dim)] = place.length.value_or(1);
  const ValuePtr start = builder.reshape(builder.cast(place.index, at::kLong), {1});
  made->index = start;
  if (place.length && *place.length != 1) {
    static const OpInfo* const add = op_info("aten::add", "Tensor");
    const Suppress quiet;
    const ValuePtr steps = constant_of(at::arange(*place.length, at::kLong), builder.location());
    made->index = builder.result(
        builder.make(add, {TraceArgument::of(start), TraceArgument::of(steps), TraceArgument::of(c10::IValue(1))}), 0,
        steps->type);
  }
  views_.insert_or_assign(view.unsafeGetTensorImpl(), Item{WeakTensor(view.getIntrusivePtr()), std::move(made)});
}

void DynamicViews::add_part(const at::Tensor& view, const c10::TensorImpl* parent, std::uintptr_t range) {
  const auto found = views_.find(parent);
  if (found == views_.end() || parent == view.unsafeGetTensorImpl()) return;
  auto made = std::make_shared<DynamicView>();
  made->parent = found->second.view;
  made->geometry = geometry_of(view, range);
  made->type = type_of(view);
  if (made->geometry.dtype != made->parent->geometry.dtype) return;
  views_.insert_or_assign(view.unsafeGetTensorImpl(), Item{WeakTensor(view.getIntrusivePtr()), std::move(made)});
}

std::optional<std::int64_t> distance(const ValuePtr& earlier, const ValuePtr& later) {
  std::int64_t sum = 0;
  const TracedValue* at = later.get();
  while (at != earlier.get()) {
    const auto step = at->kind == TracedKind::kResult ? addend(*at->op) : std::nullopt;
    if (!step || at->op->arguments[0].kind != TraceArgument::Kind::kTensor) return std::nullopt;
    sum += *step;
    at = at->op->arguments[0].tensor.get();
  }
  return sum;
}

}  // namespace leapp::capture
