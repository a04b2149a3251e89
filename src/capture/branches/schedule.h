// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways that calls take in turn, because the program counts in Python: `if not self.queue`, `if self.step % 4 == 0`.
// No value decides it, but the order of the calls shows it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace leapp::capture {

/// Calls 0 to warm_up - 1 are phases of their own; then `period` phases come again and again.
struct Schedule {
  std::size_t warm_up = 0;
  std::size_t period = 1;

  [[nodiscard]] std::size_t count() const { return warm_up + period; }
  [[nodiscard]] std::size_t phase_of(std::size_t call) const {
    return call < warm_up ? call : warm_up + (call - warm_up) % period;
  }
};

/// So many calls at least must have gone as only a schedule could say: a coin falls ABAB often enough.
inline constexpr std::size_t kConfirmed = 4;

/// Whether what calls of one phase did can be told by data, of ways by number.
using IsDecided = std::function<bool(const std::set<std::size_t>&)>;

/// The shortest one by which the calls went: two full periods at least, and as many calls again as it takes to get to
/// the end of the first. Calls that data alone would have sent where they went confirm nothing. `ways`: by call.
[[nodiscard]] std::optional<Schedule> find_schedule(const std::vector<std::size_t>& ways, const IsDecided& is_decided);

/// The ways of each phase.
[[nodiscard]] std::vector<std::set<std::size_t>> ways_by_phase(const Schedule& schedule,
                                                               const std::vector<std::size_t>& ways);

/// Phases that do the same as far as was seen: they share a way, and data decides between all of theirs.
[[nodiscard]] std::vector<std::set<std::size_t>> group_phases(const std::vector<std::set<std::size_t>>& ways_of,
                                                              const IsDecided& is_decided);

}  // namespace leapp::capture
