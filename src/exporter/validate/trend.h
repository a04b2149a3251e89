// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace leapp::exporter {

/// How a difference develops over passes: "none" where there is none, "grows" or "shrinks" when the later half of the
/// passes is on average more than twice, or less than half, the earlier one; else "steady".
[[nodiscard]] std::string trend_of(std::span<const double> max_by_pass);

}  // namespace leapp::exporter
