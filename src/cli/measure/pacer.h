// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cli/measure/latency.h"
#include "leapp/base/status.h"

namespace leapp::cli {

/// Begins steps at a fixed rate, as a control loop does, and counts those that were not done when the next was due.
class Pacer {
 public:
  Pacer(double rate, std::size_t steps);

  /// Sleeps until the next step is due. Periods that have gone by meanwhile are left out.
  void wait();
  /// The step that wait() let begin is done.
  void done(std::size_t step);

  [[nodiscard]] std::size_t overruns() const { return overruns_; }
  [[nodiscard]] std::optional<std::size_t> first_overrun() const { return first_overrun_; }
  /// How much later than due the steps began.
  [[nodiscard]] const Latencies& lateness() const { return lateness_; }

 private:
  std::int64_t period_;
  std::int64_t due_;
  std::size_t overruns_ = 0;
  std::optional<std::size_t> first_overrun_;
  Latencies lateness_;
};

/// How the thread that steps is scheduled.
struct ThreadOptions {
  std::optional<int> cpu;
  std::optional<int> priority;  ///< SCHED_FIFO
};

/// For the calling thread. kIo when the system does not allow it.
Status apply(const ThreadOptions& options);

}  // namespace leapp::cli
