// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inspect/numbers.h"

namespace leapp::cli {

void PortStatistics::add(const TensorView& value) {
  const auto* element = static_cast<const std::byte*>(value.data);
  for (std::size_t i = 0; i < value.size(); ++i, element += dtype_size(value.dtype)) {
    const double number = inspect::to_double(value.dtype, element);
    if (!std::isfinite(number)) {
      ++not_numbers_;
      continue;
    }
    least_ = numbers_ == 0 ? number : std::min(least_, number);
    most_ = numbers_ == 0 ? number : std::max(most_, number);
    sum_ += number;
    ++numbers_;
  }
}

std::string first_elements(const TensorView& value, std::size_t most) {
  std::string text;
  const auto* element = static_cast<const std::byte*>(value.data);
  const std::size_t count = value.size();
  for (std::size_t i = 0; i < std::min(count, most); ++i, element += dtype_size(value.dtype)) {
    const std::string number = inspect::is_floating(value.dtype)
                                   ? fmt::format("{:.5g}", inspect::to_double(value.dtype, element))
                                   : inspect::element_text(value.dtype, element);
    text += (i == 0 ? "" : ", ") + number;
  }
  return count > most ? fmt::format("{}, ... ({})", text, count) : text;
}

}  // namespace leapp::cli
