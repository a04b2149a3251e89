// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/recorder/storage_table.h"
#include "capture/recorder/tensor_content.h"

namespace leapp::capture {

struct LeakSource;
struct KeptTensor;

/// The value that each tensor was last seen to hold. Tensors are known by weak reference: an address cannot be reused
/// while we hold it, and nothing is kept alive. An entry counts only while storage, geometry and epoch are what they
/// were, so that `t.data = u`, `set_` and writes through aliases cannot fool it. Guarded by the recorder's lock.
class TensorEntries {
 public:
  struct Entry {
    WeakTensor tensor;
    ValuePtr value;
    ValuePtr operand;  ///< the constant that stands for a value which is no operand itself
    std::shared_ptr<StorageContent> content;
    Geometry geometry;
    std::uint64_t epoch = 0;
  };

  TensorEntries();

  /// Null: there is none, or it does not count any more.
  Entry* find(const at::Tensor& tensor, const StorageTable& storages);
  /// `tensor` holds `value`. `content`: the memory it lies in; null: it has none of its own.
  Entry& bind(const at::Tensor& tensor, ValuePtr value, std::shared_ptr<StorageContent> content);
  void forget(const at::Tensor& tensor) { entries_.erase(tensor.unsafeGetTensorImpl()); }
  [[nodiscard]] bool has(const at::Tensor& tensor) const { return entries_.contains(tensor.unsafeGetTensorImpl()); }

  /// Many have been added since the last sweep.
  [[nodiscard]] bool is_full() const { return entries_.size() >= next_sweep_; }
  /// Lets go of tensors that are gone.
  void sweep();

  /// Puts `replacement(value)` in the place of every value. `last`: constants and what is live go.
  void replace(const std::function<ValuePtr(const ValuePtr&)>& replacement, bool last);

  /// A tensor that holds, or lies at, what is asked for; nothing if there is none any more.
  [[nodiscard]] std::optional<WeakTensor> holder_of(const LeakSource& source, std::uint64_t pass) const;
  [[nodiscard]] std::optional<WeakTensor> holder_of(const Memory& memory, const Geometry& place) const;

  /// The tensors that are still there and hold what nodes made, but for memory that was there before its node. Types
  /// are left to fill in: only who locks a tensor may look at it.
  [[nodiscard]] std::vector<std::pair<WeakTensor, KeptTensor>> kept() const;

 private:
  std::unordered_map<const c10::TensorImpl*, Entry> entries_;
  std::size_t next_sweep_;
};

}  // namespace leapp::capture
