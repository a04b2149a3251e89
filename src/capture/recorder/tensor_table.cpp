// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_table.h"

#include <ATen/ops/zeros.h>

#include <utility>

#include "capture/hook/hook.h"
#include "capture/state/leaks.h"
#include "capture/trace/record.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {

ValuePtr TensorTable::find_own(const at::Tensor& tensor) {
  const Entry* entry = own_entry(tensor);
  return entry ? entry->value : nullptr;
}

ValuePtr TensorTable::find(const at::Tensor& tensor, ActivationId preferred) {
  if (const Entry* entry = own_entry(tensor)) return entry->value;
  if (!StorageTable::trackable(tensor)) return nullptr;
  const auto known = storages_.known(tensor);
  if (const auto view = dynamic_.find(tensor); view && known) {
    ValuePtr value = read(*view);
    bind(tensor, value, known);
    return value;
  }
  if (!known || known->plain()) return nullptr;
  ValuePtr value = known->read(geometry_of(tensor, known->begin()), builder_, preferred);
  // An alias of several nodes' inputs belongs to none of them in particular.
  if (value && (value->kind != TracedKind::kInput)) bind(tensor, value, known);
  return value;
}

ValuePtr TensorTable::operand(const at::Tensor& tensor, ActivationId preferred) {
  ValuePtr value = find(tensor, preferred);
  if (value && is_operand(*value)) return value;
  if (Entry* entry = own_entry(tensor)) {
    if (!entry->operand) entry->operand = constant(tensor, value);
    return entry->operand;
  }
  ValuePtr made = constant(tensor, value);
  if (!StorageTable::trackable(tensor)) return made;
  const auto memory = storages_.content(tensor);
  if (!value) {
    bind(tensor, made, memory);
  } else {
    bind(tensor, value, memory).operand = made;
  }
  return made;
}

ValuePtr TensorTable::constant(const at::Tensor& tensor, const ValuePtr& provenance) {
  auto cell = std::make_shared<TensorCell>();
  // An alias of our own: in-place views (t_, set_) of the user's tensor do not reach it, and letting go of it never
  // needs Python.
  cell->tensor = at::Tensor::wrap_tensor_impl(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
      /*version_counter=*/0, /*allow_tensor_metadata_change=*/true));
  if (tensor._is_zerotensor()) {  // has no memory: a tangent that is known to be zero
    const Suppress quiet;
    cell->tensor = at::zeros(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()));
    cell->by_reference = false;
  }
  cell->provenance = provenance;
  if (provenance && provenance->kind == TracedKind::kDrawn) cell->drawn = Drawn::kElsewhere;
  cell->location = builder_.location();
  if (tensor.requires_grad() && tensor.is_leaf()) cell->read_from = cell->storage();
  names_.name(cell, tensor);
  if (!StorageTable::trackable(tensor)) return make_constant(std::move(cell));
  const auto memory = storages_.content(tensor);
  memory->add_constant(cell);
  cell->fresh = memory->use().born_in_call();
  cell->home = memory;
  cell->outside = memory->outside().all().size();
  cell->place = geometry_of(tensor, memory->begin());
  memory->note_shape(cell->place);
  return make_constant(std::move(cell));
}

TensorTable::Entry& TensorTable::bind(const at::Tensor& tensor, ValuePtr value,
                                      std::shared_ptr<StorageContent> content) {
  if (entries_.is_full()) sweep();
  return entries_.bind(tensor, std::move(value), std::move(content));
}

void TensorTable::bind_content(const at::Tensor& tensor, ValuePtr value) {
  if (!StorageTable::trackable(tensor)) {
    bind(tensor, std::move(value), nullptr);
    return;
  }
  const auto memory = storages_.content(tensor);
  const Entry& entry = bind(tensor, value, memory);
  memory->overlay(entry.geometry, std::move(value));
}

void TensorTable::bind_view(const at::Tensor& tensor, ValuePtr value) {
  bind(tensor, std::move(value), StorageTable::trackable(tensor) ? storages_.content(tensor) : nullptr);
}

void TensorTable::bind_dynamic(const at::Tensor& view, const at::Tensor& base, const DynamicPlace& place) {
  if (!StorageTable::trackable(view)) return;
  const auto memory = storages_.content(view);
  define_unwritten(base);
  const ValuePtr value = find(base);
  const ValuePtr read_now = operand(base);  // of the program's own tensor, which has a name
  dynamic_.add(view, base, place, memory->begin(), builder_);
  const DynamicViews::Ptr made = dynamic_.find(view);
  if (!made->parent) bind(made->base, value ? value : read_now, memory).operand = read_now;
  bind(view, read(*made), memory);
}

ValuePtr TensorTable::read(const DynamicView& view) {
  return view.read(view.parent ? read(*view.parent) : operand(view.base), builder_);
}

void TensorTable::write(const DynamicView& view, const ValuePtr& value) {
  const ValuePtr before = view.parent ? read(*view.parent) : operand(view.base);
  ValuePtr after = view.write(before, value, builder_);
  view.parent ? write(*view.parent, after) : write(view.base, std::move(after));
}

void TensorTable::write(const at::Tensor& tensor, ValuePtr value) {
  if (!StorageTable::trackable(tensor)) {
    bind(tensor, std::move(value), nullptr);
    return;
  }
  if (const auto view = dynamic_.find(tensor)) {
    write(*view, value);
    bind(tensor, std::move(value), storages_.content(tensor));
    return;
  }
  const auto memory = storages_.content(tensor);
  memory->write(geometry_of(tensor, memory->begin()), value, builder_);
  bind(tensor, std::move(value), memory);
}

void TensorTable::write_constant(const at::Tensor& tensor, const ValuePtr& provenance) {
  if (!StorageTable::trackable(tensor)) return forget(tensor);
  const ValuePtr value = constant(tensor, provenance);
  write(tensor, value);
}

void TensorTable::note_drawn(const at::Tensor& tensor) {
  const ValuePtr value = find_own(tensor);
  if (value && value->kind == TracedKind::kResult) value->drawn = constant(tensor, nullptr)->cell;
}

void TensorTable::overwrite_unknown(const at::Tensor& tensor) {
  if (!StorageTable::trackable(tensor)) return forget(tensor);
  if (const auto memory = storages_.known(tensor)) memory->forget();
}

bool TensorTable::is_unwritten(const at::Tensor& tensor) {
  if (!StorageTable::trackable(tensor)) return false;
  const auto memory = storages_.known(tensor);
  return memory && memory->use().undefined() && !find(tensor);
}

void TensorTable::define_unwritten(const at::Tensor& tensor) {
  if (is_unwritten(tensor)) bind_content(tensor, builder_.full(tensor.sizes(), 0, tensor.scalar_type()));
}

bool TensorTable::knows_memory(const at::Tensor& tensor) {
  if (!StorageTable::trackable(tensor)) return entries_.has(tensor);
  const auto memory = storages_.known(tensor);
  return memory && (!memory->plain() || memory->has_constants() || !memory->outside().all().empty());
}

void TensorTable::sweep() {
  entries_.sweep();
  storages_.sweep();
  names_.sweep();
}

Survivors TensorTable::close(ActivationId activation, const std::string& node, std::uint64_t pass, bool last) {
  dynamic_.clear();
  sweep();  // what is gone survives nothing
  Survivors survivors;
  ValueKeys keys;
  std::unordered_map<const TracedValue*, ValuePtr> formers;
  const auto former = [&](const ValuePtr& value) {
    ValuePtr& made = formers[value.get()];
    if (!made) {
      const std::uint64_t key = keys.of(value);
      survivors.try_emplace(key, value);
      made = make_value(TracedKind::kFormer, value->type, {.node = node, .pass = pass, .key = key});
    }
    return made;
  };
  const auto ends = [&](const TracedValue& value) {
    return value.owner == activation || (last && value.owner == 0 && value.kind == TracedKind::kResult);
  };
  storages_.for_each([&](StorageContent& content) {
    if (content.alive()) content.settle(activation, builder_);
    content.replace([&](const ValuePtr& value) {
      // What lay there before the node took it as input lies there still.
      if (value->owner == activation && value->kind == TracedKind::kInput) return ValuePtr();
      if (last && value->kind == TracedKind::kConstant) return ValuePtr();
      return ends(*value) ? former(value) : value;
    });
    if (last) content.forget_before();
  });
  entries_.replace([&](const ValuePtr& value) { return ends(*value) ? former(value) : value; }, last);
  storages_.drop_plain();
  return survivors;
}

std::vector<MemoryEnd> TensorTable::ends(ActivationId activation) {
  std::vector<MemoryEnd> ends;
  for (const auto& content : storages_.written()) {
    const Geometry whole = content->whole(content->use().writes()[0].dtype);
    if (ValuePtr value = end_value(*content, whole, activation, builder_))
      ends.push_back({content, whole, std::move(value)});
  }
  return ends;
}

}  // namespace leapp::capture
