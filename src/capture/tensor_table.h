// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/dynamic_views.h"
#include "capture/storage_table.h"
#include "capture/tensor_names.h"

namespace leapp::capture {

struct LeakSource;
struct KeptTensor;
struct MemoryEnd;

/// Which value every tensor holds. Tensors are known by weak reference: an address cannot be reused while we hold
/// it, and nothing is kept alive. An entry counts only while storage, geometry and epoch are what they were, so that
/// `t.data = u`, `set_` and writes through aliases cannot fool it. Guarded by the session's lock.
class TensorTable {
 public:
  explicit TensorTable(TraceBuilder& builder);

  /// The value `tensor` holds, by its own entry or by the memory it looks at; null: nothing is known about it.
  /// Among inputs of several open nodes in the same memory, `preferred`'s is taken.
  ValuePtr find(const at::Tensor& tensor, ActivationId preferred = 0);

  /// Only by its own entry.
  ValuePtr find_own(const at::Tensor& tensor);

  /// The operand an operator of an open node reads for `tensor`: its value, or a constant.
  ValuePtr operand(const at::Tensor& tensor, ActivationId preferred = 0);

  /// `tensor` holds `value` in memory of its own (or aliases the caller's): later aliases are recognised.
  void bind_content(const at::Tensor& tensor, ValuePtr value);

  /// `tensor` is a view of memory that is known already.
  void bind_view(const at::Tensor& tensor, ValuePtr value);

  /// `view` is at `place` of `base`, wherever that will be in another call.
  void bind_dynamic(const at::Tensor& view, const at::Tensor& base, const DynamicPlace& place);

  /// `view` has been made from one of `parents`.
  template <typename Impls>
  void note_part(const at::Tensor& view, const Impls& parents) {
    if (dynamic_.empty() || !StorageTable::trackable(view)) return;
    for (const c10::TensorImpl* parent : parents) dynamic_.add_part(view, parent, storages_.content(view)->begin());
  }

  /// `tensor` has just been overwritten with `value`.
  void write(const at::Tensor& tensor, ValuePtr value);

  /// `tensor` has just been overwritten with something that no operator can reproduce: it is a constant from now on.
  void write_constant(const at::Tensor& tensor, const ValuePtr& provenance);

  /// `tensor` has just been drawn from nothing live, and may turn out to be a constant.
  void note_drawn(const at::Tensor& tensor);

  /// `tensor` has just been overwritten with something unknown.
  void overwrite_unknown(const at::Tensor& tensor);

  /// Something is about to write to `tensor`'s memory. See StorageContent::detach_constants.
  void about_to_write(const at::Tensor& tensor, bool in_node);

  /// `tensor` has just been allocated while a node was open; it has no content yet.
  void note_birth(const at::Tensor& tensor);
  /// Someone takes what is in its memory for content.
  void note_filled(const at::Tensor& tensor);
  /// Nobody has written to any of it since it was allocated in this call.
  bool is_unwritten(const at::Tensor& tensor);
  /// An operator is about to write to a part of `tensor`. Where nobody has written yet it holds zeros from now on: what
  /// lies there is of no call and of no model.
  void define_unwritten(const at::Tensor& tensor);

  /// True when the memory of `tensor` holds anything we know of, or a constant of ours.
  bool knows_memory(const at::Tensor& tensor);

  /// Its own entry only: the memory it looks at stays known.
  void forget(const at::Tensor& tensor) { entries_.erase(tensor.unsafeGetTensorImpl()); }

  /// Lets go of every weak reference to it.
  void release(const at::Tensor& tensor) {
    forget(tensor);
    names_.forget(tensor);
  }

  /// A node opens while no other is open: what is written from now on may be state.
  void begin();

  /// A node has closed. What it owned becomes "former"; with `last` (no node is open any more) so do results that
  /// depend on no node, and constants go.
  Survivors close(ActivationId activation, const std::string& node, std::uint64_t pass, bool last);

  /// The memory a tensor lies in, known from now on. Null: it has none of its own.
  std::shared_ptr<StorageContent> memory(const at::Tensor& tensor) {
    return StorageTable::trackable(tensor) ? storages_.content(tensor) : nullptr;
  }

  /// What lies in memory that was written since begin() by a node that had not made it.
  std::vector<MemoryEnd> ends(ActivationId activation);

  /// A tensor that holds, or lies at, what is asked for; nothing if there is none any more.
  std::optional<WeakTensor> holder_of(const LeakSource& source, std::uint64_t pass) const;
  std::optional<WeakTensor> holder_of(const Memory& memory, const Geometry& place) const;

  /// The tensors that are still there and hold what nodes made, but for memory that was there before its node. Types
  /// are left to fill in: only who locks a tensor may look at it.
  [[nodiscard]] std::vector<std::pair<WeakTensor, KeptTensor>> kept_tensors() const;

  TensorNames& names() { return names_; }

  /// Tensors we let go of; drop them without a lock held (their owner may need Python's).
  std::vector<at::Tensor> take_released() { return std::move(released_); }

 private:
  struct Entry {
    WeakTensor tensor;
    ValuePtr value;
    ValuePtr operand;  // the constant that stands for a value which is no operand itself
    std::shared_ptr<StorageContent> content;
    Geometry geometry;
    std::uint64_t epoch = 0;
  };
  Entry* valid_entry(const at::Tensor& tensor);
  Entry& bind(const at::Tensor& tensor, ValuePtr value, std::shared_ptr<StorageContent> content);
  ValuePtr constant(const at::Tensor& tensor, const ValuePtr& provenance);
  ValuePtr read(const DynamicView& view);
  void write(const DynamicView& view, const ValuePtr& value);
  void sweep();

  TraceBuilder& builder_;
  std::unordered_map<const c10::TensorImpl*, Entry> entries_;
  StorageTable storages_;
  TensorNames names_;
  DynamicViews dynamic_;
  std::vector<at::Tensor> released_;
  std::size_t next_sweep_ = 1024;
};

}  // namespace leapp::capture
