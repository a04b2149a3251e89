// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace leapp::exporter {

/// How a difference develops over passes.
enum class Trend : std::uint8_t { kNone, kSteady, kGrows, kShrinks };

/// "none", "steady", "grows", "shrinks": the words of reports and findings.
[[nodiscard]] constexpr std::string_view trend_name(Trend trend) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "steady", "grows", "shrinks"};
  return kNames[static_cast<std::size_t>(trend)];
}

/// None where there is no difference; it grows or shrinks when the later half of the passes is on average more than
/// twice, or less than half, the earlier one; else it is steady.
[[nodiscard]] Trend trend_of(std::span<const double> max_by_pass);

}  // namespace leapp::exporter
