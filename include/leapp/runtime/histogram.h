// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "leapp/base/export.h"

namespace leapp::runtime {

/// Durations by size, in fixed memory: buckets a sixteenth of their size apart, from nanoseconds to hours. One thread
/// adds; any thread may read at the same time, without a lock on either side. What is read while somebody adds may lack
/// the newest entries.
class Histogram {
 public:
  static constexpr unsigned kBits = 4;  ///< buckets per doubling: 2^kBits
  static constexpr std::size_t kBuckets = (std::size_t{44} - kBits) << kBits;

  /// Negative durations count as zero, longer ones than 2^43 ns (2.4 hours) as that: a clock that was wrong for a
  /// moment spoils one entry, and the sum of all is good for a century of such. A few nanoseconds.
  void add(std::int64_t nanoseconds) noexcept {
    constexpr auto kLongest = std::int64_t{1} << 43U;
    const auto value = static_cast<std::uint64_t>(std::clamp<std::int64_t>(nanoseconds, 0, kLongest));
    raise(buckets_[bucket_of(value)], 1);
    raise(sum_, value);
    if (value > largest_.load(std::memory_order_relaxed)) largest_.store(value, std::memory_order_relaxed);
  }

  /// How many values were added.
  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t count = 0;
    for (const auto& bucket : buckets_) count += bucket.load(std::memory_order_relaxed);
    return count;
  }
  /// The largest value that was added.
  [[nodiscard]] std::int64_t max() const noexcept {
    return static_cast<std::int64_t>(largest_.load(std::memory_order_relaxed));
  }
  /// Of all durations added; 0 when there are none.
  [[nodiscard]] LEAPP_API double mean() const noexcept;
  /// The duration that `part` of them (0.99: 99 of 100) do not exceed: the upper end of its bucket, at most 1/16 too
  /// long, and never more than max(). 0 when there are none.
  [[nodiscard]] LEAPP_API std::int64_t percentile(double part) const noexcept;

  /// Bucket i counts durations below this and not below that of i - 1.
  [[nodiscard]] LEAPP_API static std::int64_t upper_end(std::size_t bucket) noexcept;
  [[nodiscard]] std::uint64_t bucket(std::size_t i) const noexcept {
    return buckets_[i].load(std::memory_order_relaxed);
  }

  /// The bucket that a value falls into.
  [[nodiscard]] static std::size_t bucket_of(std::uint64_t value) noexcept {
    constexpr std::uint64_t kLinear = 1U << kBits;
    if (value < kLinear) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
    const std::size_t bucket = (std::size_t{shift} << kBits) + static_cast<std::size_t>(value >> shift);
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }

 private:
  // One writer: no read-modify-write is needed.
  static void raise(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> largest_{0};
};

}  // namespace leapp::runtime
