// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <thread>

#include "leapp/base/export.h"
#include "leapp/base/status.h"

namespace leapp::runtime {

/// Another number in a child that fork() has made than in its parent, where threads of ours are that the child lacks.
[[nodiscard]] LEAPP_API std::uint64_t fork_number() noexcept;

/// A thread of ours beside the program's own. Signals are the program's: none but those of an instruction that failed
/// is handled there, so that they reach whoever waits for one.
///
/// A child that fork() has made has a copy of this object and of all that the thread works on, but no such thread:
/// is_here() is false there. What the thread waited on at that moment must not be destroyed then, for that would wait
/// for it: who owns such a thing leaves it alone.
class Worker {
 public:
  Worker() = default;
  ~Worker() { leave_or_join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// kInternal when the system has no thread for `what`, which is called `name` among the system's threads.
  Status start(const char* name, const char* what, std::function<void()> work);

  /// False: nothing was started, it was joined, or it runs in the process that this one was forked from.
  [[nodiscard]] bool is_here() const noexcept { return thread_.joinable() && forks_ == fork_number(); }
  /// Whether it was started in the process that this one was forked from.
  [[nodiscard]] bool is_elsewhere() const noexcept { return thread_.joinable() && forks_ != fork_number(); }

  /// REQUIRES: is_here().
  void join() { thread_.join(); }

 private:
  void leave_or_join() noexcept;

  std::thread thread_;
  std::uint64_t forks_ = 0;  ///< fork_number() of the process that has the thread
};

enum class Priority : std::uint8_t {
  kOrdinary,
  kAboveWhereItMust,  ///< ordinary where there is another core; on the loop's own, above the loop
};

/// Threads inherit what the loop's was given: cores, and SCHED_FIFO. Called by one that is to run beside a loop, it
/// takes back both, and goes to other cores than the loop's if that is real-time: there a thread that is not would
/// never run.
void leave_the_loop_alone(Priority priority) noexcept;

}  // namespace leapp::runtime
