// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_entries.h"

#include <algorithm>

#include "capture/state/unread_state.h"
#include "capture/trace/record.h"

namespace leapp::capture {
namespace {

// Entries of tensors that are gone, and the memory that goes with them, are reused while they are still in the cache.
constexpr std::size_t kFewest = 192;

}  // namespace

// Room for a usual pass: growing by rehashing costs more than the records.
TensorEntries::TensorEntries() : next_sweep_(kFewest) { entries_.reserve(256); }

TensorEntries::Entry* TensorEntries::find(const at::Tensor& tensor, const StorageTable& storages) {
  const auto found = entries_.find(tensor.unsafeGetTensorImpl());
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  if (!entry.content) return StorageTable::trackable(tensor) ? nullptr : &entry;
  if (!StorageTable::trackable(tensor)) return nullptr;
  const bool current = storages.is_at(tensor, entry.content) && entry.epoch == entry.content->epoch() &&
                       lies_at(tensor, entry.content->begin(), entry.geometry);
  return current ? &entry : nullptr;
}

TensorEntries::Entry& TensorEntries::bind(const at::Tensor& tensor, ValuePtr value,
                                          std::shared_ptr<StorageContent> content) {
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

void TensorEntries::sweep() {
  std::erase_if(entries_, [](const auto& item) { return item.second.tensor.expired(); });
  next_sweep_ = std::max(kFewest, entries_.size() * 2);
}

void TensorEntries::replace(const std::function<ValuePtr(const ValuePtr&)>& replacement, bool last) {
  for (auto& [tensor, entry] : entries_) {
    if (last) entry.operand = nullptr;
    entry.value = replacement(entry.value);
  }
  if (last) std::erase_if(entries_, [](const auto& item) { return is_operand(*item.second.value); });
  next_sweep_ = std::max(kFewest, entries_.size() * 2);
}

std::optional<WeakTensor> TensorEntries::holder_of(const LeakSource& source, std::uint64_t pass) const {
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

std::optional<WeakTensor> TensorEntries::holder_of(const Memory& memory, const Geometry& place) const {
  for (const auto& [impl, entry] : entries_) {
    if (entry.content.get() != &memory || !(entry.geometry == place)) continue;
    if (!entry.tensor.expired()) return entry.tensor;
  }
  return {};
}

std::vector<std::pair<WeakTensor, KeptTensor>> TensorEntries::kept() const {
  std::vector<std::pair<WeakTensor, KeptTensor>> found;
  for (const auto& [impl, entry] : entries_) {
    const bool published = entry.value->kind == TracedKind::kPublished;
    if (!published && entry.value->kind != TracedKind::kFormer) continue;
    const Origin& origin = *entry.value->origin;
    if (origin.part || origin.constant || (entry.content && entry.content->use().kept())) continue;
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
