// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime divides integers by whatever a model or its data says. Where the machine answers a division by 0, or of
// the lowest number by -1, with SIGFPE, that would be the end of the process. Here it becomes an error of the run.
#pragma once

#include <atomic>
#include <cstdint>

namespace leapp::engine::ort {

/// Names the library that `inside` is an address of. Nothing happens on machines that have no such signal. Any thread.
void watch_divisions(const void* inside);

/// While there is one, SIGFPE of a division in such a library is counted, and the division gives 0. Any other SIGFPE
/// goes to whoever had it.
class DivisionWatch {
 public:
  DivisionWatch() noexcept : before_(failed_.load(std::memory_order_relaxed)) {
    under_way_.fetch_add(1, std::memory_order_relaxed);
  }
  ~DivisionWatch() { under_way_.fetch_sub(1, std::memory_order_relaxed); }
  DivisionWatch(const DivisionWatch&) = delete;
  DivisionWatch& operator=(const DivisionWatch&) = delete;

  /// Whether there was one since the beginning, in any thread: ONNX Runtime has threads of its own. So it may be of
  /// another watch that is there at the same time.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed) != before_; }

  /// For the handler: counts one, if anybody watches.
  [[nodiscard]] static bool count() noexcept {
    if (under_way_.load(std::memory_order_relaxed) == 0) return false;
    failed_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  inline static std::atomic<std::uint64_t> failed_{0};
  inline static std::atomic<std::int64_t> under_way_{0};
  std::uint64_t before_;
};

inline constexpr const char* kFailedDivision = "an integer was divided by 0, or the lowest one by -1";

}  // namespace leapp::engine::ort
