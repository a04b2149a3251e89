// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/recorder/storage_content.h"

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

  // Of any tensor: one that has no memory of its own changes nothing.
  /// The same as content(). Null: it has none of its own.
  std::shared_ptr<StorageContent> memory(const at::Tensor& tensor) {
    return trackable(tensor) ? content(tensor) : nullptr;
  }
  /// `tensor` has just been allocated while a node was open; it has no content yet.
  void note_birth(const at::Tensor& tensor);
  /// Someone takes what is in its memory for content.
  void note_filled(const at::Tensor& tensor);
  /// Something is about to write to its memory. See StorageContent::detach_constants.
  void about_to_write(const at::Tensor& tensor, bool in_node);
  /// Tensors we let go of; drop them without a lock held (their owner may need Python's).
  std::vector<at::Tensor> take_released() { return std::move(released_); }

  /// A node opens while no other is open: what is written from now on may be state.
  void begin();
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
  std::vector<at::Tensor> released_;
};

}  // namespace leapp::capture
