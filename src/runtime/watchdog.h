// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "leapp/engine/stop.h"

namespace leapp::runtime {

/// Ends what takes longer than it may. A thread of its own looks at the clock a few times in each `limit`; begin() and
/// end() are two writes of a number.
class Watchdog {
 public:
  Watchdog(std::shared_ptr<engine::Stop> stop, std::chrono::nanoseconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void begin() noexcept;
  /// True: it took too long, and was told to stop; the request is withdrawn.
  bool end() noexcept;

  [[nodiscard]] std::chrono::nanoseconds limit() const { return limit_; }

 private:
  void watch();

  std::shared_ptr<engine::Stop> stop_;
  std::chrono::nanoseconds limit_;
  std::atomic<std::int64_t> deadline_{0};  ///< 0: nothing runs
  std::atomic<bool> expired_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace leapp::runtime
