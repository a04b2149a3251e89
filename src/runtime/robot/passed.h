// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "leapp/runtime/loop.h"

namespace leapp::runtime {

/// Nanoseconds from one time to another, which callers give and may be any: the most or the least that there is where
/// that does not fit.
[[nodiscard]] inline std::int64_t passed_between(Time from, Time to) noexcept {
  static_assert(std::is_same_v<Time::duration, std::chrono::nanoseconds>);
  const std::int64_t begin = from.time_since_epoch().count();
  const std::int64_t end = to.time_since_epoch().count();
  std::int64_t passed = 0;
  if (!__builtin_sub_overflow(end, begin, &passed)) return passed;
  return begin < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace leapp::runtime
