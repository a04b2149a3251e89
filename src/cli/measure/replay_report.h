// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/console/context.h"
#include "inspect/compare.h"

namespace leapp::cli {

/// What a run and an earlier one do not have in common: the first difference, and how far each port is off.
class ReplayReport {
 public:
  struct First {
    std::size_t port = 0;
    std::size_t step = 0;
    std::string element;  ///< "[2]", or with its name
    ElementDifference difference;
  };

  /// `tolerance` is nothing when every bit has to be the same.
  ReplayReport(std::string file, std::optional<Tolerance> tolerance) : file_(std::move(file)), tolerance_(tolerance) {}

  /// Ports in the order in which a difference of one step is earlier than another.
  void add_port(std::string name) { ports_.push_back({std::move(name), 0, 0, std::nullopt}); }

  /// `element` is how to call the first element that differs.
  void add(std::size_t port, std::size_t step, const TensorDifference& found, std::string element);

  [[nodiscard]] bool agrees() const { return !first_; }
  [[nodiscard]] const std::optional<First>& first() const { return first_; }
  /// `steps` were compared.
  [[nodiscard]] std::string text(const Context& context, std::size_t steps) const;
  [[nodiscard]] Json json(std::size_t steps) const;

 private:
  struct Port {
    std::string name;
    double largest = 0;
    std::size_t count = 0;
    std::optional<std::size_t> first_step;
  };

  [[nodiscard]] std::string tolerance_text() const;

  std::string file_;
  std::optional<Tolerance> tolerance_;
  std::vector<Port> ports_;
  std::optional<First> first_;
};

}  // namespace leapp::cli
