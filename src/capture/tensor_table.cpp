// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/tensor_table.h"

#include <ATen/ops/zeros.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <utility>

#include "capture/hook.h"
#include "capture/leaks.h"
#include "capture/record.h"
#include "capture/unread_state.h"
#include "capture/value_key.h"

namespace leapp::capture {
namespace {

// Entries of tensors that are gone, and the memory that goes with them, are reused while they are still in the cache.
constexpr std::size_t kFewest = 192;

std::uintptr_t address(const at::Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.storage().data()); }

bool is_from_outside(const c10::Storage& storage) {
  const c10::Allocator* allocator = c10::GetAllocator(storage.device_type());
  return !allocator || storage.data_ptr().get_deleter() != allocator->raw_deleter();
}

}  // namespace

// Room for a usual pass: growing by rehashing costs more than the records.
TensorTable::TensorTable(TraceBuilder& builder) : builder_(builder) {
  entries_.reserve(256);
  ranges_.reserve(256);
  names_.reserve(64);
  next_sweep_ = kFewest;
}

bool TensorTable::trackable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_nested() && tensor.has_storage() &&
         !tensor._is_zerotensor();
}

TensorTable::Entry* TensorTable::valid_entry(const at::Tensor& tensor) {
  const auto found = entries_.find(tensor.unsafeGetTensorImpl());
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  if (!entry.content) return trackable(tensor) ? nullptr : &entry;
  if (!trackable(tensor)) return nullptr;
  const auto range = ranges_.find(tensor.storage().unsafeGetStorageImpl());
  const bool current = range != ranges_.end() && range->second.content == entry.content &&
                       range->second.begin == address(tensor) && entry.epoch == entry.content->epoch() &&
                       entry.geometry == geometry_of(tensor, entry.content->begin());
  return current ? &entry : nullptr;
}

ValuePtr TensorTable::find_own(const at::Tensor& tensor) {
  const Entry* entry = valid_entry(tensor);
  return entry ? entry->value : nullptr;
}

ValuePtr TensorTable::find(const at::Tensor& tensor, ActivationId preferred) {
  if (const Entry* entry = valid_entry(tensor)) return entry->value;
  if (!trackable(tensor)) return nullptr;
  const auto known = known_content(tensor);
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
  if (Entry* entry = valid_entry(tensor)) {
    if (!entry->operand) entry->operand = constant(tensor, value);
    return entry->operand;
  }
  ValuePtr made = constant(tensor, value);
  if (!trackable(tensor)) return made;
  const auto memory = content(tensor);
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
  cell->random = provenance && provenance->kind == TracedKind::kDrawn;
  cell->location = builder_.location();
  const auto name = names_.find(tensor.unsafeGetTensorImpl());
  if (name != names_.end()) {
    cell->name = name->second.name;
    cell->parameter = name->second.parameter;
  } else {
    unnamed_.push_back({cell, tensor.unsafeGetTensorImpl()});
  }
  if (!trackable(tensor)) return make_constant(std::move(cell));
  const auto memory = content(tensor);
  memory->add_constant(cell);
  cell->fresh = memory->born_in_call();
  cell->home = memory;
  cell->place = geometry_of(tensor, memory->begin());
  memory->note_shape(cell->place);
  return make_constant(std::move(cell));
}

void TensorTable::name_again(const Unnamed& constant) {
  const auto name = names_.find(constant.tensor);
  if (name == names_.end()) return;
  constant.cell->name = name->second.name;
  constant.cell->parameter = name->second.parameter;
}

void TensorTable::set_name(const at::Tensor& tensor, std::string name, bool parameter) {
  names_.insert_or_assign(tensor.unsafeGetTensorImpl(),
                          Name{WeakTensor(tensor.getIntrusivePtr()), std::move(name), parameter});
}

TensorTable::Entry& TensorTable::bind(const at::Tensor& tensor, ValuePtr value,
                                      std::shared_ptr<StorageContent> content) {
  if (entries_.size() >= next_sweep_) sweep();
  auto [position, added] = entries_.try_emplace(tensor.unsafeGetTensorImpl(),
                                                Entry{WeakTensor(tensor.getIntrusivePtr()), {}, {}, {}, {}, 0});
  Entry& entry = position->second;
  entry.value = std::move(value);
  entry.operand = nullptr;
  if (content) {
    entry.geometry = geometry_of(tensor, content->begin());
    entry.epoch = content->epoch();
  }
  entry.content = std::move(content);
  return entry;
}

void TensorTable::bind_content(const at::Tensor& tensor, ValuePtr value) {
  if (!trackable(tensor)) {
    bind(tensor, std::move(value), nullptr);
    return;
  }
  const auto memory = content(tensor);
  memory->overlay(geometry_of(tensor, memory->begin()), value);
  bind(tensor, std::move(value), memory);
}

void TensorTable::bind_view(const at::Tensor& tensor, ValuePtr value) {
  bind(tensor, std::move(value), trackable(tensor) ? content(tensor) : nullptr);
}

void TensorTable::bind_dynamic(const at::Tensor& view, const at::Tensor& base, const DynamicPlace& place) {
  if (!trackable(view)) return;
  const auto memory = content(view);
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
  if (!trackable(tensor)) {
    bind(tensor, std::move(value), nullptr);
    return;
  }
  if (const auto view = dynamic_.find(tensor)) {
    write(*view, value);
    bind(tensor, std::move(value), content(tensor));
    return;
  }
  const auto memory = content(tensor);
  memory->write(geometry_of(tensor, memory->begin()), value, builder_);
  bind(tensor, std::move(value), memory);
}

void TensorTable::write_constant(const at::Tensor& tensor, const ValuePtr& provenance) {
  if (!trackable(tensor)) return forget(tensor);
  const ValuePtr value = constant(tensor, provenance);
  write(tensor, value);
}

void TensorTable::overwrite_unknown(const at::Tensor& tensor) {
  if (!trackable(tensor)) return forget(tensor);
  if (const auto memory = known_content(tensor)) memory->forget();
}

void TensorTable::about_to_write(const at::Tensor& tensor, bool in_node) {
  if (!trackable(tensor)) return;
  // What a node writes to may be state, also where nothing was read yet: what lies there now is its first content.
  const auto memory = in_node && tensor.storage().nbytes() > 0 ? content(tensor) : known_content(tensor);
  if (memory) memory->detach_constants(released_, in_node);
}

void TensorTable::note_birth(const at::Tensor& tensor) {
  if (trackable(tensor) && tensor.storage().nbytes() > 0) content(tensor)->note_birth();
}

bool TensorTable::knows_memory(const at::Tensor& tensor) {
  if (!trackable(tensor)) return entries_.contains(tensor.unsafeGetTensorImpl());
  const auto memory = known_content(tensor);
  return memory && (!memory->plain() || memory->has_constants());
}

// By the storage's identity; else by its address, for memory that came in through DLPack or NumPy.
std::shared_ptr<StorageContent> TensorTable::known_content(const at::Tensor& tensor) {
  const auto found = ranges_.find(tensor.storage().unsafeGetStorageImpl());
  if (found == ranges_.end()) return overlapping(tensor);
  Range& range = found->second;
  if (range.begin != address(tensor) || range.bytes != tensor.storage().nbytes()) {
    // resize_ keeps the elements and moves the memory.
    range.content->move_to(address(tensor), static_cast<std::int64_t>(tensor.storage().nbytes()));
    range.begin = address(tensor);
    range.bytes = tensor.storage().nbytes();
  }
  return range.content;
}

// Of two storages over the same memory at least one was not allocated by torch. So only memory from elsewhere is
// compared with everything, and everything with memory from elsewhere.
std::shared_ptr<StorageContent> TensorTable::overlapping(const at::Tensor& tensor) {
  const bool outside = is_from_outside(tensor.storage());
  if (!outside && from_outside_.empty()) return nullptr;
  const std::uintptr_t begin = address(tensor);
  const std::uintptr_t end = begin + tensor.storage().nbytes();
  if (begin == 0 || begin == end) return nullptr;
  std::vector<std::shared_ptr<StorageContent>> found;
  const auto look_at = [&](const std::shared_ptr<StorageContent>& content) {
    const bool touches = content->begin() < end && begin < content->end();
    if (touches && content->alive() && std::find(found.begin(), found.end(), content) == found.end())
      found.push_back(content);
  };
  if (outside) {
    for (const auto& [storage, range] : ranges_) look_at(range.content);
  } else {
    for (const auto& weak : from_outside_) {
      if (const auto content = weak.lock()) look_at(content);
    }
  }
  if (found.empty()) return nullptr;
  for (std::size_t i = 1; i < found.size(); ++i) {
    found[0]->absorb(*found[i]);
    for (auto& [storage, range] : ranges_) {
      if (range.content == found[i]) range.content = found[0];
    }
  }
  if (begin < found[0]->begin() || end > found[0]->end()) {
    StorageContent added(begin, static_cast<std::int64_t>(end - begin), tensor.device());
    added.add_storage(tensor.storage());
    found[0]->absorb(added);
  }
  place(found[0], tensor);
  return found[0];
}

void TensorTable::place(const std::shared_ptr<StorageContent>& content, const at::Tensor& tensor) {
  content->add_storage(tensor.storage());
  if (is_from_outside(tensor.storage())) from_outside_.push_back(content);
  Range range{tensor.storage().getWeakStorageImpl(), content, address(tensor), tensor.storage().nbytes()};
  ranges_.insert_or_assign(tensor.storage().unsafeGetStorageImpl(), std::move(range));
}

std::shared_ptr<StorageContent> TensorTable::content(const at::Tensor& tensor) {
  if (auto known = known_content(tensor)) return known;
  auto made = std::make_shared<StorageContent>(address(tensor), static_cast<std::int64_t>(tensor.storage().nbytes()),
                                               tensor.device());
  place(made, tensor);
  return made;
}

void TensorTable::sweep() {
  std::erase_if(entries_, [](const auto& item) { return item.second.tensor.expired(); });
  std::erase_if(ranges_, [](const auto& item) { return item.second.storage.expired(); });
  std::erase_if(from_outside_, [](const auto& item) {
    const auto content = item.lock();
    return !content || !content->alive();
  });
  std::erase_if(names_, [](const auto& item) { return item.second.tensor.expired(); });
  next_sweep_ = std::max(kFewest, entries_.size() * 2);
}

void TensorTable::begin() {
  for (auto& [storage, range] : ranges_) range.content->forget_before();
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
  for (auto& [storage, range] : ranges_) {
    range.content->replace([&](const ValuePtr& value) {
      // What lay there before the node took it as input lies there still.
      if (value->owner == activation && value->kind == TracedKind::kInput) return ValuePtr();
      if (last && value->kind == TracedKind::kConstant) return ValuePtr();
      return ends(*value) ? former(value) : value;
    });
    if (last) range.content->forget_before();
  }
  for (auto& [tensor, entry] : entries_) {
    if (last) entry.operand = nullptr;
    if (ends(*entry.value)) entry.value = former(entry.value);
  }
  std::erase_if(entries_, [&](const auto& item) { return last && is_operand(*item.second.value); });
  next_sweep_ = std::max(kFewest, entries_.size() * 2);
  std::erase_if(ranges_, [](const auto& item) {
    const std::shared_ptr<StorageContent>& content = item.second.content;
    return content->plain() && !content->has_constants() && content.use_count() == 1;
  });
  return survivors;
}

std::vector<MemoryEnd> TensorTable::ends(ActivationId activation) {
  std::vector<std::shared_ptr<StorageContent>> written;
  for (const auto& [storage, range] : ranges_) {
    const std::shared_ptr<StorageContent>& content = range.content;
    const bool outlives = content->kept() && !content->writes().empty() && content->alive();
    if (outlives && std::find(written.begin(), written.end(), content) == written.end()) written.push_back(content);
  }
  // Where torch put it is not the same in every run.
  std::sort(written.begin(), written.end(), [](const auto& a, const auto& b) { return a->begin() < b->begin(); });
  std::vector<MemoryEnd> ends;
  for (const auto& content : written) {
    const Geometry whole = content->whole(content->writes()[0].dtype);
    if (ValuePtr value = end_value(*content, whole, activation, builder_))
      ends.push_back({content, whole, std::move(value)});
  }
  return ends;
}

std::optional<WeakTensor> TensorTable::holder_of(const LeakSource& source, std::uint64_t pass) const {
  const TracedKind kind = source.port.empty() ? TracedKind::kFormer : TracedKind::kPublished;
  for (const auto& [impl, entry] : entries_) {
    if (entry.value->kind != kind || entry.value->origin->part) continue;
    const Origin& origin = *entry.value->origin;
    if (origin.key != source.key || origin.pass != pass || origin.node != source.node) continue;
    if (!source.port.empty() && origin.port != source.port) continue;
    if (!entry.tensor.expired()) return entry.tensor;
  }
  return {};
}

std::optional<WeakTensor> TensorTable::holder_of(const Memory& memory, const Geometry& place) const {
  for (const auto& [impl, entry] : entries_) {
    if (entry.content.get() != &memory || !(entry.geometry == place)) continue;
    if (!entry.tensor.expired()) return entry.tensor;
  }
  return {};
}

std::vector<std::pair<WeakTensor, KeptTensor>> TensorTable::kept_tensors() const {
  std::vector<std::pair<WeakTensor, KeptTensor>> found;
  for (const auto& [impl, entry] : entries_) {
    const bool published = entry.value->kind == TracedKind::kPublished;
    if (!published && entry.value->kind != TracedKind::kFormer) continue;
    const Origin& origin = *entry.value->origin;
    if (origin.part || origin.constant || (entry.content && entry.content->kept())) continue;
    if (entry.tensor.expired()) continue;
    found.emplace_back(entry.tensor, KeptTensor{.node = origin.node,
                                                .port = origin.port,
                                                .pass = origin.pass,
                                                .key = origin.key,
                                                .memory = static_cast<const Memory*>(entry.content.get())});
  }
  return found;
}

}  // namespace leapp::capture
