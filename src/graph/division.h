// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace leapp::graph {

/// Of an operator that divides: the argument by which it does, which must not be zero where integers are divided.
/// Empty: it does not divide.
[[nodiscard]] inline std::string_view divisor_of(std::string_view op) {
  constexpr std::string_view kSpace = "aten::";
  constexpr auto kByOther = std::to_array<std::string_view>({"div", "divide", "floor_divide", "fmod", "remainder"});
  if (!op.starts_with(kSpace)) return {};
  op.remove_prefix(kSpace.size());
  if (op == "__rdiv__") return "self";
  return std::find(kByOther.begin(), kByOther.end(), op) != kByOther.end() ? "other" : "";
}

}  // namespace leapp::graph
