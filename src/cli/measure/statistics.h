// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "leapp/base/tensor_view.h"

namespace leapp::cli {

/// What a port's values were like over a run.
class PortStatistics {
 public:
  void add(const TensorView& value);

  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }
  [[nodiscard]] double mean() const { return numbers_ == 0 ? 0 : sum_ / static_cast<double>(numbers_); }
  [[nodiscard]] std::size_t numbers() const { return numbers_; }          ///< finite ones
  [[nodiscard]] std::size_t not_numbers() const { return not_numbers_; }  ///< infinities and NaN

 private:
  double least_ = 0;
  double most_ = 0;
  double sum_ = 0;
  std::size_t numbers_ = 0;
  std::size_t not_numbers_ = 0;
};

/// "0.5, -1, 0.25, ... (12)": the first elements.
[[nodiscard]] std::string first_elements(const TensorView& value, std::size_t most);

}  // namespace leapp::cli
