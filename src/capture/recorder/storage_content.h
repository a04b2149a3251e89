// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/recorder/memory.h"

namespace leapp::capture {

/// Memory of tensors. Several StorageImpls may share a range (DLPack, from_numpy). Addresses are those of its device;
/// copies of what it holds are in memory of the CPU.
class StorageContent : public Memory {
 public:
  StorageContent(std::uintptr_t begin, std::int64_t bytes, c10::Device device)
      : Memory(bytes), begin_(begin), device_(device) {}

  [[nodiscard]] c10::Device device() const { return device_; }
  [[nodiscard]] std::uintptr_t begin() const { return begin_; }
  [[nodiscard]] std::uintptr_t end() const { return begin_ + static_cast<std::uintptr_t>(bytes_); }

  /// The tensors that alias this range and are still there. The range grows or moves with them.
  void add_storage(const c10::Storage& storage);
  [[nodiscard]] bool alive() override;
  void move_to(std::uintptr_t begin, std::int64_t bytes);
  void absorb(StorageContent& other);

  [[nodiscard]] ContentPtr content_before(const Geometry& place) const override;
  void forget_before() override;

  /// Something is about to write here: constants that look at this memory get copies. What they let go of is handed
  /// to `released`, to be dropped without any lock held. `in_node`: what a node writes may be its state; the bytes
  /// before the first such write are kept.
  void detach_constants(std::vector<at::Tensor>& released, bool in_node);

 private:
  std::shared_ptr<ConstantCell> cell_before(at::ScalarType dtype, std::int64_t count) override;
  at::Tensor bytes_now() const;
  at::Tensor bytes_before() const { return before_.defined() ? before_ : bytes_now(); }
  at::Tensor shift(std::int64_t bytes);

  std::uintptr_t begin_;
  c10::Device device_;
  at::Tensor before_;
  c10::SmallVector<c10::weak_intrusive_ptr<c10::StorageImpl>, 1> storages_;
};

}  // namespace leapp::capture
