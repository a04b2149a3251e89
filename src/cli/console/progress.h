// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "cli/console/context.h"

namespace leapp::cli {

/// A line on stderr, where that is a terminal, for what takes longer than a second; gone when the object is.
class Progress {
 public:
  Progress(const Context& context, std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Costs a look at the clock, and nothing where nobody watches.
  void at(std::size_t done);

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::size_t done);

  bool watched_;
  std::string what_;
  std::size_t total_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace leapp::cli
