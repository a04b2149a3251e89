// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/arrays.h"
#include "cli/compare.h"
#include "cli/context.h"
#include "cli/trace.h"

namespace leapp::cli {

/// Compares a run with a trace of an earlier one. Must not outlive `ports`.
class Replay {
 public:
  /// Reads the trace. It must have all inputs; of the other ports those are compared that it has.
  static Result<Replay> open(const std::string& file, const std::vector<TracedPort>& ports, const Tolerance& tolerance);

  [[nodiscard]] std::size_t steps() const { return steps_; }

  /// Puts the state with which the trace begins into the pipeline.
  Status set_state(runtime::Pipeline& pipeline) const;

  /// `value` is what the port with that number has in that step.
  void compare(std::size_t port, std::size_t step, const TensorView& value);

  [[nodiscard]] bool agrees() const { return !first_; }
  [[nodiscard]] std::string text(const Context& context) const;
  [[nodiscard]] Json json() const;

 private:
  struct Port {
    std::optional<Series> series;
    double largest = 0;
    std::size_t count = 0;
    std::optional<std::size_t> first_step;
  };
  struct First {
    std::size_t port = 0;
    std::size_t step = 0;
    ElementDifference element;
  };

  explicit Replay(const std::vector<TracedPort>& ports) : traced_(&ports), ports_(ports.size()) {}

  const std::vector<TracedPort>* traced_;
  std::string file_;
  Tolerance tolerance_;
  std::vector<Port> ports_;
  std::size_t steps_ = 0;
  std::optional<First> first_;
};

}  // namespace leapp::cli
