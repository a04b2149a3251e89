// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "leapp/base/status.h"

namespace leapp::runtime {

/// Slots of one size that go from one thread to another, in order. No lock; nobody waits.
class StepRing {
 public:
  static constexpr std::size_t kFewest = 8;

  /// As many slots as fit into `bytes`, and kFewest at least, each beginning with a line of the cache. All of the
  /// memory is there at once.
  static Result<std::unique_ptr<StepRing>> make(std::size_t slot_bytes, std::size_t bytes);

  ~StepRing();
  StepRing(const StepRing&) = delete;
  StepRing& operator=(const StepRing&) = delete;

  // ---- The thread that fills slots.

  /// Where to write; null when there is no room. The same until publish().
  [[nodiscard]] std::byte* acquire() noexcept {
    if (head_ - seen_tail_ == count_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head_ - seen_tail_ == count_) return nullptr;
    }
    return next_;
  }
  void publish() noexcept {
    published_.store(++head_, std::memory_order_release);
    next_ += slot_bytes_;
    if (next_ == memory_ + count_ * slot_bytes_) next_ = memory_;
    __builtin_prefetch(next_, 0, 2);  // its first line, which the other thread's core has had last
  }

  // ---- The thread that empties them.

  /// The oldest; null when there is none. In place until pop().
  [[nodiscard]] const std::byte* front() noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail == published_.load(std::memory_order_acquire) ? nullptr : slot(tail);
  }
  void pop() noexcept { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  StepRing() = default;
  [[nodiscard]] std::byte* slot(std::uint64_t number) const noexcept { return memory_ + number % count_ * slot_bytes_; }

  std::byte* memory_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::size_t count_ = 0;
  // Each thread writes to a cache line of its own.
  alignas(64) std::uint64_t head_ = 0;
  std::uint64_t seen_tail_ = 0;
  std::byte* next_ = nullptr;  ///< the slot of head_
  alignas(64) std::atomic<std::uint64_t> published_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace leapp::runtime
