// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/console/context.h"

namespace leapp::cli {

/// Times, in nanoseconds, of which none is thrown away: percentiles are exact.
class Latencies {
 public:
  /// Room for that many, so that adding one allocates nothing.
  explicit Latencies(std::size_t count) { times_.reserve(count); }

  void add(std::uint64_t nanoseconds) noexcept {
    if (times_.size() < times_.capacity()) times_.push_back(nanoseconds);
  }

  /// Forgets what was added; the room stays.
  void clear() { times_.clear(); }

  [[nodiscard]] std::size_t count() const { return times_.size(); }
  [[nodiscard]] const std::vector<std::uint64_t>& times() const { return times_; }

 private:
  std::vector<std::uint64_t> times_;
};

/// In nanoseconds; all zero when there are no times.
struct LatencySummary {
  double least = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double most = 0;
  double jitter = 0;  ///< standard deviation
};

struct LatencyBucket {
  double from = 0;
  double to = 0;
  std::size_t count = 0;
};

[[nodiscard]] LatencySummary summarise(const Latencies& latencies);

/// Ten of equal width from the least to the 99th percentile, and one for all above.
[[nodiscard]] std::vector<LatencyBucket> histogram(const Latencies& latencies);

/// "13.2 µs", "1.25 ms".
[[nodiscard]] std::string time_text(double nanoseconds);

/// Cells for "p50", "p90", "p99", "p99.9", "max", "jitter", "mean".
[[nodiscard]] std::vector<std::string> summary_cells(const LatencySummary& summary);

/// In microseconds.
[[nodiscard]] Json summary_json(const LatencySummary& summary);

}  // namespace leapp::cli
