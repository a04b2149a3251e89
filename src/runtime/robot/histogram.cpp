// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/histogram.h"

#include <algorithm>
#include <cmath>

namespace leapp::runtime {

double Histogram::mean() const noexcept {
  const std::uint64_t entries = count();
  return entries == 0 ? 0 : static_cast<double>(sum_.load(std::memory_order_relaxed)) / static_cast<double>(entries);
}

std::int64_t Histogram::upper_end(std::size_t bucket) noexcept {
  constexpr std::size_t kLinear = std::size_t{1} << kBits;
  if (bucket < kLinear) return static_cast<std::int64_t>(bucket) + 1;
  const std::size_t shift = (bucket >> kBits) - 1;
  return static_cast<std::int64_t>((bucket - (shift << kBits) + 1) << shift);
}

std::int64_t Histogram::percentile(double part) const noexcept {
  const std::uint64_t entries = count();
  if (entries == 0) return 0;
  const double wanted = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(entries));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += bucket(i);
    if (seen != 0 && static_cast<double>(seen) >= wanted) return std::min(upper_end(i) - 1, max());
  }
  return max();
}

}  // namespace leapp::runtime
