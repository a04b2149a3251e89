// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/watchdog.h"

#include <algorithm>
#include <utility>

namespace leapp::runtime {
namespace {

using std::chrono::nanoseconds;

std::int64_t now() {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Watchdog::Watchdog(std::shared_ptr<engine::Stop> stop, nanoseconds limit)
    : stop_(std::move(stop)), limit_(limit), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::begin() noexcept { deadline_.store(now() + limit_.count()); }

bool Watchdog::end() noexcept {
  // Whoever takes the deadline away decides: the watch, and then there will be a request, or we.
  if (deadline_.exchange(0) != 0) return false;
  while (!expired_.load()) {
  }
  expired_.store(false);
  stop_->clear();
  return true;
}

void Watchdog::watch() {
  const nanoseconds pause =
      std::clamp<nanoseconds>(limit_ / 8, std::chrono::milliseconds(1), std::chrono::milliseconds(50));
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pause, [this] { return done_; })) {
    std::int64_t deadline = deadline_.load();
    if (deadline == 0 || now() < deadline) continue;
    if (!deadline_.compare_exchange_strong(deadline, 0)) continue;  // over, or the next one began
    stop_->request();
    expired_.store(true);
  }
}

}  // namespace leapp::runtime
