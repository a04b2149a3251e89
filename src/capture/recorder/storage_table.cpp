// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/storage_table.h"

#include <c10/core/Allocator.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace leapp::capture {
namespace {

std::uintptr_t address(const at::Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.storage().data()); }

// The same number means other memory on another device.
bool same_addresses(const c10::Device& a, const c10::Device& b) {
  return a.type() == b.type() && (a.is_cpu() || a == b);
}

bool is_from_outside(const c10::Storage& storage) {
  try {
    const c10::Allocator* torchs = c10::GetAllocator(storage.device_type());
    return !torchs || storage.data_ptr().get_deleter() != torchs->raw_deleter();
  } catch (const c10::Error&) {
    return true;  // torch knows of no allocator for such a device
  }
}

}  // namespace

bool StorageTable::trackable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_nested() && tensor.has_storage() &&
         !tensor._is_zerotensor();
}

bool StorageTable::is_at(const at::Tensor& tensor, const std::shared_ptr<StorageContent>& content) const {
  const auto range = ranges_.find(tensor.storage().unsafeGetStorageImpl());
  return range != ranges_.end() && range->second.content == content && range->second.begin == address(tensor);
}

// By the storage's identity; else by its address, for memory that came in through DLPack or NumPy.
std::shared_ptr<StorageContent> StorageTable::known(const at::Tensor& tensor) {
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
std::shared_ptr<StorageContent> StorageTable::overlapping(const at::Tensor& tensor) {
  const bool outside = is_from_outside(tensor.storage());
  if (!outside && from_outside_.empty()) return nullptr;
  const std::uintptr_t begin = address(tensor);
  const std::uintptr_t end = begin + tensor.storage().nbytes();
  if (begin == 0 || begin == end) return nullptr;
  std::vector<std::shared_ptr<StorageContent>> found;
  const auto look_at = [&](const std::shared_ptr<StorageContent>& content) {
    const bool touches = content->begin() < end && begin < content->end();
    if (touches && same_addresses(content->device(), tensor.device()) && content->alive() &&
        std::find(found.begin(), found.end(), content) == found.end())
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

void StorageTable::place(const std::shared_ptr<StorageContent>& content, const at::Tensor& tensor) {
  content->add_storage(tensor.storage());
  if (is_from_outside(tensor.storage())) from_outside_.push_back(content);
  Range range{tensor.storage().getWeakStorageImpl(), content, address(tensor), tensor.storage().nbytes()};
  ranges_.insert_or_assign(tensor.storage().unsafeGetStorageImpl(), std::move(range));
}

std::shared_ptr<StorageContent> StorageTable::content(const at::Tensor& tensor) {
  if (auto found = known(tensor)) return found;
  auto made = std::make_shared<StorageContent>(address(tensor), static_cast<std::int64_t>(tensor.storage().nbytes()),
                                               tensor.device());
  place(made, tensor);
  return made;
}

void StorageTable::note_birth(const at::Tensor& tensor) {
  if (const auto made = memory(tensor)) made->use().note_birth();
}

void StorageTable::note_filled(const at::Tensor& tensor) {
  if (!trackable(tensor)) return;
  if (const auto found = known(tensor)) found->note_filled();
}

void StorageTable::about_to_write(const at::Tensor& tensor, bool in_node) {
  if (!trackable(tensor)) return;
  // What a node writes to may be state, also where nothing was read yet: what lies there now is its first content.
  const auto memory = in_node && tensor.storage().nbytes() > 0 ? content(tensor) : known(tensor);
  if (memory) memory->detach_constants(released_, in_node);
}

void StorageTable::begin() {
  for_each([](StorageContent& content) { content.forget_before(); });
}

void StorageTable::sweep() {
  std::erase_if(ranges_, [](const auto& item) { return item.second.storage.expired(); });
  std::erase_if(from_outside_, [](const auto& item) {
    const auto content = item.lock();
    return !content || !content->alive();
  });
}

void StorageTable::drop_plain() {
  std::erase_if(ranges_, [](const auto& item) {
    const std::shared_ptr<StorageContent>& content = item.second.content;
    return content->plain() && !content->has_constants() && content.use_count() == 1;
  });
}

std::vector<std::shared_ptr<StorageContent>> StorageTable::written() const {
  std::vector<std::shared_ptr<StorageContent>> found;
  for (const auto& [storage, range] : ranges_) {
    const std::shared_ptr<StorageContent>& content = range.content;
    const bool outlives = content->use().kept() && !content->use().writes().empty() && content->alive();
    if (outlives && std::find(found.begin(), found.end(), content) == found.end()) found.push_back(content);
  }
  // Where torch put it is not the same in every run.
  const auto place = [](const auto& content) {
    return std::make_tuple(content->device().type(), content->device().index(), content->begin());
  };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return found;
}

}  // namespace leapp::capture
