// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "capture/storage_content.h"

namespace leapp::capture {

/// Which memory every storage is. Storages are known by weak reference; those over the same bytes share one content.
/// Guarded by the recorder's lock.
class StorageTable {
 public:
  StorageTable() { ranges_.reserve(256); }

  /// Whether a tensor has memory that can be described: dense, and of its own.
  static bool trackable(const at::Tensor& tensor);

  // REQUIRES: trackable(tensor).
  /// Null: nothing is known of its memory.
  std::shared_ptr<StorageContent> known(const at::Tensor& tensor);
  /// Its memory, known from now on.
  std::shared_ptr<StorageContent> content(const at::Tensor& tensor);
  /// Whether `content` is where the tensor's memory is now.
  [[nodiscard]] bool is_at(const at::Tensor& tensor, const std::shared_ptr<StorageContent>& content) const;

  /// Lets go of storages that are gone.
  void sweep();
  /// Lets go of memory that nobody knows anything of.
  void drop_plain();

  /// Calls `visit(StorageContent&)` for the content of every storage; for one that several share, several times.
  template <typename Visit>
  void for_each(Visit visit) {
    for (auto& [storage, range] : ranges_) visit(*range.content);
  }
  /// What a call wrote to that had not made it, in the order of addresses.
  [[nodiscard]] std::vector<std::shared_ptr<StorageContent>> written() const;

 private:
  struct Range {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    std::shared_ptr<StorageContent> content;
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
  };

  std::shared_ptr<StorageContent> overlapping(const at::Tensor& tensor);
  void place(const std::shared_ptr<StorageContent>& content, const at::Tensor& tensor);

  std::unordered_map<const c10::StorageImpl*, Range> ranges_;
  std::vector<std::weak_ptr<StorageContent>> from_outside_;  // memory that torch did not allocate
};

}  // namespace leapp::capture
