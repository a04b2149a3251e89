// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/geometry.h"
#include "capture/op_builder.h"
#include "capture/trace.h"

namespace leapp::capture {

/// What a range of memory holds, as values.
///
/// The range starts with whatever bytes it had (a constant); over these lie values in the order in which they were
/// put there: inputs that alias it, results, writes. Reading a geometry gives the value that lies there if one fits
/// exactly and nothing newer touches it; else the layers are joined into one flat value (the root) and the geometry
/// is read from that. So views of views, views made before the session began and views nobody saw being made need no
/// bookkeeping of their own.
///
/// Several StorageImpls may share a range (DLPack, from_numpy).
class StorageContent {
 public:
  StorageContent(std::uintptr_t begin, std::int64_t bytes, c10::Device device)
      : begin_(begin), bytes_(bytes), device_(device) {}

  [[nodiscard]] std::uintptr_t begin() const { return begin_; }
  [[nodiscard]] std::uintptr_t end() const { return begin_ + static_cast<std::uintptr_t>(bytes_); }

  /// Grows with every write. A tensor whose recorded epoch is older must be read anew.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

  /// Nothing is known but the bytes in memory.
  [[nodiscard]] bool plain() const { return layers_.empty() && !former_; }
  [[nodiscard]] const ValuePtr& former() const { return former_; }

  /// The value at `geometry`, or null where only the bytes in memory are known.
  ValuePtr read(const Geometry& geometry, OpBuilder& builder, ActivationId preferred);

  /// `value` lies at `geometry` and always has, as far as anyone can tell: older readers stay right.
  void overlay(const Geometry& geometry, ValuePtr value);

  /// `value` has just been written to `geometry`.
  void write(const Geometry& geometry, ValuePtr value, OpBuilder& builder);

  /// All values are forgotten; `former` (may be null) says what the bytes are now.
  void forget(ValuePtr former);

  /// The node that owns values here has closed.
  void close(ActivationId activation, const ValuePtr& former);

  /// Same as forget, unless all that lies here was published or drawn outside the node.
  void forget_results(ValuePtr former);

  /// True when a layer holds a value owned by `activation`.
  [[nodiscard]] bool holds(ActivationId activation) const;

  /// The tensors that alias this range and are still there. The range grows or moves with them.
  void add_storage(const c10::Storage& storage);
  [[nodiscard]] bool alive();
  void move_to(std::uintptr_t begin, std::int64_t bytes);
  void absorb(StorageContent& other);

  void add_constant(const std::shared_ptr<ConstantCell>& cell) { constants_.push_back(cell); }

  /// The memory was allocated while a node was open: what it held before is nobody's state.
  void note_birth() { born_in_node_ = true; }
  [[nodiscard]] bool has_constants() const;

  /// Something is about to write here: constants that look at this memory get copies. What they let go of is handed
  /// to `released`, to be dropped without any lock held.
  void detach_constants(std::vector<at::Tensor>& released);

 private:
  struct Layer {
    Geometry geometry;
    ValuePtr value;
  };

  ValuePtr join(at::ScalarType dtype, OpBuilder& builder);
  ValuePtr part_of(const ValuePtr& value, OpBuilder& builder) const;
  ValuePtr flatten(const Layer& layer, OpBuilder& builder) const;
  ValuePtr bytes_in_memory(at::ScalarType dtype, const ValuePtr& provenance, OpBuilder& builder);

  std::uintptr_t begin_;
  std::int64_t bytes_;
  c10::Device device_;
  std::uint64_t epoch_ = 0;
  c10::SmallVector<Layer, 1> layers_;
  ValuePtr former_;
  bool born_in_node_ = false;
  c10::SmallVector<c10::weak_intrusive_ptr<c10::StorageImpl>, 1> storages_;
  std::vector<std::weak_ptr<ConstantCell>> constants_;
};

}  // namespace leapp::capture
