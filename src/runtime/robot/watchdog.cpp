// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot/watchdog.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/memory.h"

namespace leapp::runtime {
namespace {

using std::chrono::nanoseconds;

std::int64_t now() {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Watchdog::Watchdog(std::shared_ptr<engine::Stop> stop, nanoseconds limit)
    : stop_(std::move(stop)), limit_(std::min<nanoseconds>(limit, kLongest)) {
  if (const Status started = start(); !started.ok()) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), started.message());
  }
}

Watchdog::~Watchdog() {
  if (!watch_->worker.is_here()) {
    (void)watch_.release();
    return;
  }
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->done = true;
  }
  watch_->wake.notify_one();
  watch_->worker.join();
}

Status Watchdog::start() {
  auto fresh = std::make_unique<Watch>();
  (void)watch_.release();  // none, or one whose thread another process has
  watch_ = std::move(fresh);
  return watch_->worker.start("leapp-watchdog", "the timeout", [this, mine = watch_.get()] {
    leave_the_loop_alone(Priority::kAboveWhereItMust);
    watch(*mine);
  });
}

void Watchdog::begin() noexcept {
  if (watch_->worker.is_elsewhere()) [[unlikely]] {
    expired_.store(false);
    (void)without_exceptions([this] { return start(); });
  }
  deadline_.store(now() + limit_.count());
}

bool Watchdog::end() noexcept {
  // Whoever takes the deadline away decides: the watch, and then there will be a request, or we.
  if (deadline_.exchange(0) != 0) return false;
  // The other thread is about to say so, unless it lost its core, for good if this thread is one of high priority that
  // does not let go of it. There is no hurry: the step has taken too long already.
  while (!expired_.load()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  expired_.store(false);
  stop_->clear();
  return true;
}

void Watchdog::watch(Watch& mine) {
  const nanoseconds pause =
      std::clamp<nanoseconds>(limit_ / 8, std::chrono::milliseconds(1), std::chrono::milliseconds(50));
  std::unique_lock lock(mine.mutex);
  while (!mine.wake.wait_for(lock, pause, [&] { return mine.done; })) {
    std::int64_t deadline = deadline_.load();
    if (deadline == 0 || now() < deadline) continue;
    if (!deadline_.compare_exchange_strong(deadline, 0)) continue;  // over, or the next one began
    stop_->request();
    expired_.store(true);
  }
}

}  // namespace leapp::runtime
