// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "leapp/engine/stop.h"
#include "runtime/reload/worker.h"

namespace leapp::runtime {

/// Ends what takes longer than it may. A thread of its own looks at the clock a few times in each `limit`; begin() and
/// end() are two writes of a number. In a child that fork() has made, the first begin() starts another thread.
class Watchdog {
 public:
  /// A longer limit is this one.
  static constexpr std::chrono::hours kLongest{24 * 365 * 100};

  /// Throws std::bad_alloc and std::system_error when there is no thread to be had.
  Watchdog(std::shared_ptr<engine::Stop> stop, std::chrono::nanoseconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void begin() noexcept;
  /// True: it took too long, and was told to stop; the request is withdrawn.
  bool end() noexcept;

  [[nodiscard]] std::chrono::nanoseconds limit() const { return limit_; }

 private:
  /// The thread, and what it waits on: left alone in a child that does not have it.
  struct Watch {
    std::mutex mutex;
    std::condition_variable wake;
    bool done = false;
    Worker worker;
  };

  Status start();
  void watch(Watch& mine);

  std::shared_ptr<engine::Stop> stop_;
  std::chrono::nanoseconds limit_;
  std::atomic<std::int64_t> deadline_{0};  ///< 0: nothing runs
  std::atomic<bool> expired_{false};
  std::unique_ptr<Watch> watch_;
};

}  // namespace leapp::runtime
