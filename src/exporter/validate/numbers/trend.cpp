// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/trend.h"

#include <algorithm>
#include <numeric>

namespace leapp::exporter {

Trend trend_of(std::span<const double> max_by_pass) {
  if (std::all_of(max_by_pass.begin(), max_by_pass.end(), [](double max) { return max == 0; })) return Trend::kNone;
  const std::size_t half = max_by_pass.size() / 2;
  if (half == 0) return Trend::kSteady;
  const auto mean = [](std::span<const double> part) {
    return std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
  };
  const double early = mean(max_by_pass.first(half));
  const double late = mean(max_by_pass.last(half));
  if (late > 2 * early) return Trend::kGrows;
  return late < early / 2 ? Trend::kShrinks : Trend::kSteady;
}

}  // namespace leapp::exporter
