// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/memory.h"

#include <algorithm>
#include <utility>

namespace leapp::capture {
namespace {

Geometry flat_geometry(const ValuePtr& flat) {
  Geometry geometry;
  geometry.sizes = flat->type.sizes;
  geometry.strides = {1};
  geometry.dtype = flat->type.dtype;
  return geometry;
}

// The value a lazily conjugated or negated view shows, from what is in memory, and the other way round.
ValuePtr resolve_bits(ValuePtr value, const Geometry& geometry, TraceBuilder& builder) {
  if (geometry.conjugated) value = builder.unary("aten::conj_physical", value);
  if (geometry.negated) value = builder.unary("aten::neg", value);
  return value;
}

Geometry physical(Geometry geometry) {
  geometry.conjugated = geometry.negated = false;
  return geometry;
}

bool holds_operand(c10::ArrayRef<Memory::Layer> layers, const Geometry& geometry) {
  return std::any_of(layers.begin(), layers.end(), [&](const Memory::Layer& layer) {
    return is_operand(*layer.value) && touch(layer.geometry, geometry);
  });
}

ValuePtr flatten(const Memory::Layer& layer, TraceBuilder& builder) {
  ValuePtr value = layer.value;
  if (!layer.geometry.row_major()) value = builder.permute(value, layer.geometry.order());
  return builder.reshape(value, {layer.geometry.element_count()});
}

// A piece of a published output is computed from it; a piece of what was drawn is no different from the whole.
ValuePtr part_of(const ValuePtr& value, TraceBuilder& builder) {
  if (value->kind == TracedKind::kFormer) {
    Origin origin = *value->origin;
    origin.part = true;
    return make_value(TracedKind::kFormer, {}, std::move(origin));
  }
  if (value->kind != TracedKind::kPublished) return value;
  return make_value(TracedKind::kGlue, {}, {.source = value, .glue_op = "a view", .location = builder.location()});
}

}  // namespace

ValuePtr Memory::read(const Geometry& wanted, TraceBuilder& builder, ActivationId preferred) {
  const Geometry geometry = physical(wanted);
  ValuePtr fallback;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    if (layer.geometry == geometry) {
      const bool fits = preferred == 0 || layer.value->owner == 0 || layer.value->owner == preferred;
      if (fits) return resolve_bits(layer.value, wanted, builder);
      // Two open nodes may take the same tensor as input: each reads its own.
      if (!fallback) fallback = layer.value;
      continue;
    }
    if (fallback || !touch(layer.geometry, geometry)) continue;
    if (!holds_operand(layers_, geometry)) return part_of(layer.value, builder);
    const ValuePtr root = join(geometry.dtype, builder);
    const std::int64_t offset = geometry.byte_offset / geometry.item_size();
    const bool whole = geometry.covers(root->type.sizes[0] * geometry.item_size()) && geometry.row_major();
    ValuePtr value = whole ? builder.reshape(root, geometry.sizes)
                           : builder.as_strided(root, geometry.sizes, geometry.strides, offset);
    return resolve_bits(std::move(value), wanted, builder);
  }
  return fallback ? resolve_bits(std::move(fallback), wanted, builder) : nullptr;
}

void Memory::overlay(const Geometry& geometry, ValuePtr value) {
  if (geometry.conjugated || geometry.negated) return;  // a view of something that is known already
  if (value->kind == TracedKind::kInput) use_.note_input(geometry);
  layers_.push_back({geometry, std::move(value)});
}

void Memory::write(const Geometry& geometry, ValuePtr value, TraceBuilder& builder) {
  ++epoch_;
  value = resolve_bits(std::move(value), geometry, builder);
  const Geometry place = physical(geometry);
  use_.note_write(place);
  if (value->owner == 0 && use_.has_input_at(place)) value->over_input = true;
  if (place.covers(bytes_)) layers_.clear();
  if (!layers_.empty() && layers_.back().geometry == place) layers_.pop_back();
  layers_.push_back({place, std::move(value), builder.location()});
}

void Memory::settle(ActivationId activation, TraceBuilder& builder) {
  if (layers_.size() < 2) return;
  const auto whole = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& layer) {
    return layer.value->owner == activation && is_operand(*layer.value) && layer.geometry.covers(bytes_);
  });
  if (whole == layers_.end() || layers_.back().geometry == whole->geometry) return;
  const Geometry geometry = whole->geometry;
  if (ValuePtr value = read(geometry, builder, activation)) layers_.push_back({geometry, std::move(value)});
}

void Memory::forget() {
  ++epoch_;
  use_.note_content();
  layers_.clear();
}

void Memory::replace(const std::function<ValuePtr(const ValuePtr&)>& replacement) {
  for (Layer& layer : layers_) layer.value = replacement(layer.value);
  layers_.erase(std::remove_if(layers_.begin(), layers_.end(), [](const Layer& layer) { return !layer.value; }),
                layers_.end());
}

void Memory::add_constant(const std::shared_ptr<ConstantCell>& cell) {
  // A weight is read in every call, and the memory of a cell stays for as long as anybody refers to it weakly.
  if (constants_.size() >= most_constants_) {
    std::erase_if(constants_, [](const auto& known) { return known.expired(); });
    most_constants_ = std::max<std::size_t>(8, 2 * constants_.size());
  }
  constants_.push_back(cell);
}

bool Memory::has_constants() const {
  return std::any_of(constants_.begin(), constants_.end(), [](const auto& cell) { return !cell.expired(); });
}

void Memory::note_shape(const Geometry& geometry) {
  if (!whole_ && geometry.covers(bytes_) && geometry.row_major()) whole_ = physical(geometry);
}

Geometry Memory::whole(at::ScalarType dtype) const {
  if (whole_ && whole_->dtype == dtype) return *whole_;
  Geometry flat;
  flat.dtype = dtype;
  flat.sizes = {bytes_ / flat.item_size()};
  flat.strides = {1};
  return flat;
}

void Memory::forget_before() { use_.begin(); }

ValuePtr Memory::join(at::ScalarType dtype, TraceBuilder& builder) {
  std::size_t first = 0;
  ValuePtr root;
  ValuePtr provenance;
  for (std::size_t i = layers_.size(); i-- > 0 && !root;) {
    if (!is_operand(*layers_[i].value)) provenance = layers_[i].value;
    if (!is_operand(*layers_[i].value) || !layers_[i].geometry.covers(bytes_)) continue;
    root = flatten(layers_[i], builder);
    first = i + 1;
  }
  if (!root) root = bytes_in_memory(dtype, provenance, builder);
  for (std::size_t i = first; i < layers_.size(); ++i) {
    const Geometry& place = layers_[i].geometry;
    // What is no operand is in memory as it is.
    if (place.element_count() == 0 || !is_operand(*layers_[i].value)) continue;
    // Where it was written is told of where somebody wrote, not of where it is read.
    const AtLocation written(builder, layers_[i].location);
    root = builder.reinterpret(root, place.dtype);
    root = builder.as_strided_scatter(root, layers_[i].value, place.sizes, place.strides,
                                      place.byte_offset / place.item_size());
  }
  root = builder.reinterpret(root, dtype);
  layers_.clear();
  layers_.push_back({flat_geometry(root), root});
  return root;
}

// Every write since the range became known is a layer, so the bytes outside the layers are as they were.
ValuePtr Memory::bytes_in_memory(at::ScalarType dtype, const ValuePtr& provenance, TraceBuilder& builder) {
  const auto item = static_cast<std::int64_t>(c10::elementSize(dtype));
  std::shared_ptr<ConstantCell> cell = cell_before(dtype, bytes_ / item);
  cell->by_reference = false;
  cell->overwritten = !use_.born_in_node();
  cell->provenance = provenance;
  if (provenance && provenance->kind == TracedKind::kDrawn) cell->drawn = Drawn::kElsewhere;
  cell->location = builder.location();
  cell->home = weak_from_this();
  cell->place.dtype = dtype;
  cell->place.sizes = {bytes_ / item};
  cell->place.strides = {1};
  for (const Layer& layer : layers_) {
    if (is_operand(*layer.value)) cell->covered.push_back(layer.geometry);
  }
  return make_constant(std::move(cell));
}

}  // namespace leapp::capture
