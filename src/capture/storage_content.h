// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
class StorageContent : public std::enable_shared_from_this<StorageContent> {
 public:
  StorageContent(std::uintptr_t begin, std::int64_t bytes, c10::Device device)
      : begin_(begin), bytes_(bytes), device_(device) {}

  [[nodiscard]] std::uintptr_t begin() const { return begin_; }
  [[nodiscard]] std::uintptr_t end() const { return begin_ + static_cast<std::uintptr_t>(bytes_); }

  /// Grows with every write. A tensor whose recorded epoch is older must be read anew.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

  /// Nothing is known but the bytes in memory.
  [[nodiscard]] bool plain() const { return layers_.empty(); }

  /// The value at `geometry`, or null where only the bytes in memory are known.
  ValuePtr read(const Geometry& geometry, OpBuilder& builder, ActivationId preferred);

  /// `value` lies at `geometry` and always has, as far as anyone can tell: older readers stay right.
  void overlay(const Geometry& geometry, ValuePtr value);

  /// `value` has just been written to `geometry`.
  void write(const Geometry& geometry, ValuePtr value, OpBuilder& builder);

  /// Whatever lies here was overwritten with something unknown.
  void forget();

  /// Puts `replacement(value)` in the place of every value; null takes the layer away.
  void replace(const std::function<ValuePtr(const ValuePtr&)>& replacement);

  /// The tensors that alias this range and are still there. The range grows or moves with them.
  void add_storage(const c10::Storage& storage);
  [[nodiscard]] bool alive();
  void move_to(std::uintptr_t begin, std::int64_t bytes);
  void absorb(StorageContent& other);

  void add_constant(const std::shared_ptr<ConstantCell>& cell) { constants_.push_back(cell); }

  /// The memory was allocated while a node was open: what it held before is nobody's state.
  void note_birth() { born_in_node_ = true; }
  [[nodiscard]] bool has_constants() const;
  /// A node has written to it that had not made it.
  [[nodiscard]] bool kept() const { return kept_; }

  /// How a tensor that is all of this memory lies in it, if one was seen; else a flat one.
  [[nodiscard]] Geometry whole(at::ScalarType dtype) const;
  void note_shape(const Geometry& geometry);

  /// The bytes before a node first wrote here, as a tensor at `place`; the bytes as they are, when none did.
  [[nodiscard]] at::Tensor before(const Geometry& place) const;
  void forget_before();

  /// Whether a node has written to anything that was read with `cell`. REQUIRES: it was read from here
  [[nodiscard]] bool changed(const ConstantCell& cell) const;

  /// Something is about to write here: constants that look at this memory get copies. What they let go of is handed
  /// to `released`, to be dropped without any lock held. `in_node`: what a node writes may be its state; the bytes
  /// before the first such write are kept.
  void detach_constants(std::vector<at::Tensor>& released, bool in_node);

 private:
  struct Layer {
    Geometry geometry;
    ValuePtr value;
  };

  ValuePtr join(at::ScalarType dtype, OpBuilder& builder);
  ValuePtr part_of(const ValuePtr& value, OpBuilder& builder) const;
  bool holds_operand(const Geometry& geometry) const;
  at::Tensor bytes_now() const;
  at::Tensor shift(std::int64_t bytes);
  ValuePtr flatten(const Layer& layer, OpBuilder& builder) const;
  ValuePtr bytes_in_memory(at::ScalarType dtype, const ValuePtr& provenance, OpBuilder& builder);

  std::uintptr_t begin_;
  std::int64_t bytes_;
  c10::Device device_;
  std::uint64_t epoch_ = 0;
  c10::SmallVector<Layer, 1> layers_;
  std::optional<Geometry> whole_;
  at::Tensor before_;
  bool written_ = false;
  std::vector<Geometry> writes_;  // since forget_before()
  std::vector<Geometry> inputs_;  // likewise: of nodes that took this memory as input
  bool born_in_node_ = false;
  bool kept_ = false;
  c10::SmallVector<c10::weak_intrusive_ptr<c10::StorageImpl>, 1> storages_;
  std::vector<std::weak_ptr<ConstantCell>> constants_;
};

}  // namespace leapp::capture
