// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "leapp/base/status.h"
#include "runtime/pipeline/plan.h"

namespace leapp::runtime {

/// All memory a pipeline works on, in one piece. Zero at first.
class Buffers {
 public:
  static constexpr std::size_t kAlignment = 64;
  /// A file that asks for more is not meant seriously.
  static constexpr std::size_t kLargest = std::size_t{1} << 34U;

  /// Bytes that allocate() would ask for.
  [[nodiscard]] static std::uint64_t needed(const std::vector<BufferPlan>& plans);
  static Result<Buffers> allocate(const std::vector<BufferPlan>& plans);

  /// Where a port finds its value in a step of that parity (0 or 1).
  [[nodiscard]] std::byte* at(Place place, unsigned parity) const noexcept {
    return halves_[place.buffer][place.next ? 1U - parity : parity];
  }
  [[nodiscard]] std::size_t size(std::size_t buffer) const noexcept { return sizes_[buffer]; }

  /// Keeps all of it in place for as long as it is held.
  [[nodiscard]] const std::shared_ptr<void>& memory() const { return memory_; }

  /// From now on the buffer is found at `to`, memory of someone else's. What was bound to the old place stays bound.
  /// REQUIRES: it is not doubled.
  void redirect(std::size_t buffer, std::byte* to) { halves_[buffer] = {to, to}; }

  /// Every element of the buffer, of both when it is doubled, becomes one or zero.
  void fill(std::size_t buffer, DType dtype, bool one) const;

 private:
  Buffers() = default;

  std::shared_ptr<void> memory_;
  std::vector<std::array<std::byte*, 2>> halves_;  ///< the same twice when it is not doubled
  std::vector<std::size_t> sizes_;
};

}  // namespace leapp::runtime
