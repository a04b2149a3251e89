// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/storage_content.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "capture/hook.h"

namespace leapp::capture {
namespace {

// State larger than this is not looked for.
constexpr std::int64_t kMaxKept = std::int64_t{256} << 20;

bool touch(const Geometry& a, const Geometry& b) {
  return a.first_byte() < b.end_byte() && b.first_byte() < a.end_byte();
}

Geometry flat_geometry(const ValuePtr& flat) {
  Geometry geometry;
  geometry.sizes = flat->type.sizes;
  geometry.strides = {1};
  geometry.dtype = flat->type.dtype;
  return geometry;
}

// The value a lazily conjugated or negated view shows, from what is in memory, and the other way round.
ValuePtr resolve_bits(ValuePtr value, const Geometry& geometry, OpBuilder& builder) {
  if (geometry.conjugated) value = builder.unary("aten::conj_physical", value);
  if (geometry.negated) value = builder.unary("aten::neg", value);
  return value;
}

Geometry physical(Geometry geometry) {
  geometry.conjugated = geometry.negated = false;
  return geometry;
}

}  // namespace

ValuePtr StorageContent::read(const Geometry& wanted, OpBuilder& builder, ActivationId preferred) {
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
    if (!holds_operand(geometry)) return part_of(layer.value, builder);
    const ValuePtr root = join(geometry.dtype, builder);
    const std::int64_t offset = geometry.byte_offset / geometry.item_size();
    const bool whole = geometry.covers(root->type.sizes[0] * geometry.item_size()) && geometry.row_major();
    ValuePtr value = whole ? builder.reshape(root, geometry.sizes)
                           : builder.as_strided(root, geometry.sizes, geometry.strides, offset);
    return resolve_bits(std::move(value), wanted, builder);
  }
  return fallback ? resolve_bits(std::move(fallback), wanted, builder) : nullptr;
}

bool StorageContent::holds_operand(const Geometry& geometry) const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [&](const Layer& layer) { return is_operand(*layer.value) && touch(layer.geometry, geometry); });
}

void StorageContent::overlay(const Geometry& geometry, ValuePtr value) {
  if (geometry.conjugated || geometry.negated) return;  // a view of something that is known already
  if (value->kind == TracedKind::kInput) inputs_.push_back(geometry);
  layers_.push_back({geometry, std::move(value)});
}

void StorageContent::write(const Geometry& geometry, ValuePtr value, OpBuilder& builder) {
  ++epoch_;
  value = resolve_bits(std::move(value), geometry, builder);
  const Geometry place = physical(geometry);
  writes_.push_back(place);
  const auto under = [&](const Geometry& input) { return touch(input, place); };
  if (value->owner == 0 && std::any_of(inputs_.begin(), inputs_.end(), under)) value->over_input = true;
  if (place.covers(bytes_)) layers_.clear();
  if (!layers_.empty() && layers_.back().geometry == place) layers_.pop_back();
  layers_.push_back({place, std::move(value)});
}

void StorageContent::forget() {
  ++epoch_;
  layers_.clear();
}

void StorageContent::replace(const std::function<ValuePtr(const ValuePtr&)>& replacement) {
  for (Layer& layer : layers_) layer.value = replacement(layer.value);
  layers_.erase(std::remove_if(layers_.begin(), layers_.end(), [](const Layer& layer) { return !layer.value; }),
                layers_.end());
}

void StorageContent::note_shape(const Geometry& geometry) {
  if (!whole_ && geometry.covers(bytes_) && geometry.row_major()) whole_ = physical(geometry);
}

Geometry StorageContent::whole(at::ScalarType dtype) const {
  if (whole_ && whole_->dtype == dtype) return *whole_;
  Geometry flat;
  flat.dtype = dtype;
  flat.sizes = {bytes_ / flat.item_size()};
  flat.strides = {1};
  return flat;
}

at::Tensor StorageContent::before(const Geometry& place) const {
  const Suppress quiet;
  const std::int64_t usable = bytes_ / place.item_size() * place.item_size();
  return (before_.defined() ? before_ : bytes_now())
      .narrow(0, 0, usable)
      .view(place.dtype)
      .as_strided(place.sizes, place.strides, place.byte_offset / place.item_size());
}

void StorageContent::forget_before() {
  before_.reset();
  written_ = false;
  writes_.clear();
  inputs_.clear();
}

bool StorageContent::changed(const ConstantCell& cell) const {
  if (bytes_ > kMaxKept) return true;
  const Suppress quiet;
  at::Tensor mask = at::zeros({bytes_}, at::TensorOptions().dtype(at::kByte));
  const auto mark = [&](const Geometry& place, int value) {
    if (place.element_count() == 0) return;
    const std::int64_t item = place.item_size();
    c10::DimVector strides(place.strides);
    for (std::int64_t& stride : strides) stride *= item;
    c10::DimVector sizes(place.sizes);
    sizes.push_back(item);
    strides.push_back(1);
    mask.as_strided(sizes, strides, place.byte_offset).fill_(value);
  };
  for (const Geometry& place : writes_) mark(place, 1);
  for (const Geometry& place : cell.covered) mark(place, 0);
  for (const Geometry& place : inputs_) mark(place, 0);
  at::Tensor read = at::zeros({bytes_}, at::TensorOptions().dtype(at::kByte));
  std::swap(mask, read);
  mark(cell.place, 1);
  return mask.bitwise_and_(read).any().item<bool>();
}

ValuePtr StorageContent::flatten(const Layer& layer, OpBuilder& builder) const {
  ValuePtr value = layer.value;
  if (!layer.geometry.row_major()) value = builder.permute(value, layer.geometry.order());
  return builder.reshape(value, {layer.geometry.element_count()});
}

ValuePtr StorageContent::join(at::ScalarType dtype, OpBuilder& builder) {
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
    root = builder.reinterpret(root, place.dtype);
    root = builder.as_strided_scatter(root, layers_[i].value, place.sizes, place.strides,
                                      place.byte_offset / place.item_size());
  }
  root = builder.reinterpret(root, dtype);
  layers_.clear();
  layers_.push_back({flat_geometry(root), root});
  return root;
}

at::Tensor StorageContent::bytes_now() const {
  const Suppress quiet;
  at::Tensor bytes = at::zeros({bytes_}, at::TensorOptions().dtype(at::kByte).device(device_));
  for (const auto& weak : storages_) {
    const auto storage = weak.lock();
    if (!storage || storage->nbytes() == 0 || !storage->data()) continue;
    const auto start = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(storage->data()) - begin_);
    const auto size = static_cast<std::int64_t>(storage->nbytes());
    bytes.narrow(0, start, size)
        .copy_(at::from_blob(storage->mutable_data(), {size}, at::TensorOptions().dtype(at::kByte).device(device_)));
  }
  return bytes;
}

// Every write since the range became known is a layer, so the bytes outside the layers are as they were.
ValuePtr StorageContent::bytes_in_memory(at::ScalarType dtype, const ValuePtr& provenance, OpBuilder& builder) {
  const Suppress quiet;
  auto cell = std::make_shared<ConstantCell>();
  const auto item = static_cast<std::int64_t>(c10::elementSize(dtype));
  cell->tensor = (before_.defined() ? before_ : bytes_now()).narrow(0, 0, bytes_ / item * item).view(dtype);
  cell->by_reference = false;
  cell->overwritten = !born_in_node_;
  cell->provenance = provenance;
  cell->random = provenance && provenance->kind == TracedKind::kDrawn;
  cell->location = builder.location();
  cell->home = weak_from_this();
  cell->place.dtype = dtype;
  cell->place.sizes = {bytes_ / item};
  cell->place.strides = {1};
  for (const Layer& layer : layers_) {
    if (is_operand(*layer.value)) cell->covered.push_back(layer.geometry);
  }
  return builder.constant(std::move(cell));
}

// A piece of a published output is computed from it; a piece of what was drawn is no different from the whole.
ValuePtr StorageContent::part_of(const ValuePtr& value, OpBuilder& builder) const {
  if (value->kind == TracedKind::kFormer) {
    Origin origin = *value->origin;
    origin.part = true;
    return make_value(TracedKind::kFormer, {}, std::move(origin));
  }
  if (value->kind != TracedKind::kPublished) return value;
  return make_value(TracedKind::kGlue, {}, {.source = value, .glue_op = "a view", .location = builder.location()});
}

void StorageContent::add_storage(const c10::Storage& storage) { storages_.emplace_back(storage.getWeakStorageImpl()); }

bool StorageContent::alive() {
  storages_.erase(
      std::remove_if(storages_.begin(), storages_.end(), [](const auto& storage) { return storage.expired(); }),
      storages_.end());
  return !storages_.empty();
}

void StorageContent::move_to(std::uintptr_t begin, std::int64_t bytes) {
  begin_ = begin;
  bytes_ = bytes;
}

void StorageContent::absorb(StorageContent& other) {
  const std::uintptr_t begin = std::min(begin_, other.begin_);
  const std::uintptr_t last = std::max(end(), other.end());
  const at::Tensor own_before = shift(static_cast<std::int64_t>(begin_ - begin));
  const at::Tensor other_before = other.shift(static_cast<std::int64_t>(other.begin_ - begin));
  const auto own_start = static_cast<std::int64_t>(begin_ - begin);
  const auto other_start = static_cast<std::int64_t>(other.begin_ - begin);
  layers_.append(std::make_move_iterator(other.layers_.begin()), std::make_move_iterator(other.layers_.end()));
  writes_.insert(writes_.end(), other.writes_.begin(), other.writes_.end());
  inputs_.insert(inputs_.end(), other.inputs_.begin(), other.inputs_.end());
  storages_.append(other.storages_.begin(), other.storages_.end());
  constants_.insert(constants_.end(), other.constants_.begin(), other.constants_.end());
  written_ = written_ || other.written_;
  kept_ = kept_ || other.kept_;
  whole_.reset();
  epoch_ = std::max(epoch_, other.epoch_) + 1;
  move_to(begin, static_cast<std::int64_t>(last - begin));
  before_.reset();
  if (!own_before.defined() && !other_before.defined()) return;
  const Suppress quiet;
  before_ = bytes_now();
  if (other_before.defined()) before_.narrow(0, other_start, other_before.numel()).copy_(other_before);
  if (own_before.defined()) before_.narrow(0, own_start, own_before.numel()).copy_(own_before);
}

// The range is about to begin earlier. Gives what is kept of it.
at::Tensor StorageContent::shift(std::int64_t bytes) {
  for (Layer& layer : layers_) layer.geometry.byte_offset += bytes;
  for (Geometry& place : writes_) place.byte_offset += bytes;
  for (Geometry& place : inputs_) place.byte_offset += bytes;
  for (const auto& weak : constants_) {
    const auto cell = weak.lock();
    if (!cell) continue;
    cell->place.byte_offset += bytes;
    for (Geometry& place : cell->covered) place.byte_offset += bytes;
  }
  return before_;
}

bool StorageContent::has_constants() const {
  return std::any_of(constants_.begin(), constants_.end(), [](const auto& cell) { return !cell.expired(); });
}

void StorageContent::detach_constants(std::vector<at::Tensor>& released, bool in_node) {
  const Suppress quiet;
  if (in_node && !written_ && !born_in_node_) {
    const bool computed =
        std::any_of(layers_.begin(), layers_.end(), [](const Layer& l) { return is_operand(*l.value); });
    kept_ = kept_ || !computed;
    if (!computed && bytes_ <= kMaxKept) before_ = bytes_now();
  }
  written_ = written_ || in_node;
  for (const auto& weak : constants_) {
    const auto cell = weak.lock();
    if (!cell || !cell->by_reference) continue;
    at::Tensor copy = cell->tensor.detach().clone();
    released.push_back(std::exchange(cell->tensor, std::move(copy)));
    cell->by_reference = false;
    cell->overwritten = !born_in_node_;
  }
  constants_.clear();
}

}  // namespace leapp::capture
