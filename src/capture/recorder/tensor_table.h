// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <memory>
#include <string>
#include <vector>

#include "capture/recorder/dynamic_views.h"
#include "capture/recorder/storage_table.h"
#include "capture/recorder/tensor_entries.h"
#include "capture/recorder/tensor_names.h"

namespace leapp::capture {

struct MemoryEnd;

/// Which value every tensor holds: by its own entry (tensor_entries.h), or by the memory that it looks at
/// (storage_table.h). Guarded by the recorder's lock.
class TensorTable {
 public:
  explicit TensorTable(TraceBuilder& builder) : builder_(builder) {}

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

  /// Nobody has written to any of it since it was allocated in this call.
  bool is_unwritten(const at::Tensor& tensor);
  /// An operator is about to write to a part of `tensor`. Where nobody has written yet it holds zeros from now on: what
  /// lies there is of no call and of no model.
  void define_unwritten(const at::Tensor& tensor);

  /// True when the memory of `tensor` holds anything we know of, or a constant of ours.
  bool knows_memory(const at::Tensor& tensor);

  /// Its own entry only: the memory it looks at stays known.
  void forget(const at::Tensor& tensor) { entries_.forget(tensor); }

  /// Lets go of every weak reference to it.
  void release(const at::Tensor& tensor) {
    forget(tensor);
    names_.forget(tensor);
  }

  /// A node has closed. What it owned becomes "former"; with `last` (no node is open any more) so do results that
  /// depend on no node, and constants go.
  Survivors close(ActivationId activation, const std::string& node, std::uint64_t pass, bool last);

  /// What lies in memory that was written since StorageTable::begin() by a node that had not made it.
  std::vector<MemoryEnd> ends(ActivationId activation);

  /// What is known of tensors one by one, of memory, and of names.
  [[nodiscard]] const TensorEntries& tensors() const { return entries_; }
  StorageTable& memories() { return storages_; }
  TensorNames& names() { return names_; }

 private:
  using Entry = TensorEntries::Entry;

  Entry* own_entry(const at::Tensor& tensor) { return entries_.find(tensor, storages_); }
  Entry& bind(const at::Tensor& tensor, ValuePtr value, std::shared_ptr<StorageContent> content);
  ValuePtr constant(const at::Tensor& tensor, const ValuePtr& provenance);
  ValuePtr read(const DynamicView& view);
  void write(const DynamicView& view, const ValuePtr& value);
  void sweep();

  TraceBuilder& builder_;
  TensorEntries entries_;
  StorageTable storages_;
  TensorNames names_;
  DynamicViews dynamic_;
};

}  // namespace leapp::capture
