// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console/context.h"
#include "cli/io/arrays.h"
#include "cli/measure/array_log.h"
#include "cli/measure/replay_report.h"
#include "inspect/compare.h"

namespace leapp::cli {

struct ReplayOptions {
  std::string file;
  Tolerance tolerance;
  std::uint64_t memory_limit = 0;  ///< what the trace may need; 0: as a bundle may
};

/// Compares a run with a trace of an earlier one. Must not outlive `ports`.
class TraceReplay {
 public:
  /// Reads the trace. It must have all inputs; of the other ports those are compared that it has.
  static Result<TraceReplay> open(const std::vector<TracedPort>& ports, const ReplayOptions& options);

  [[nodiscard]] std::size_t steps() const { return steps_; }

  /// Puts the state with which the trace begins into the pipeline.
  Status set_state(runtime::Pipeline& pipeline) const;

  /// `value` is what the port with that number has in that step.
  void compare(std::size_t port, std::size_t step, const TensorView& value);

  [[nodiscard]] bool agrees() const { return report_.agrees(); }
  [[nodiscard]] std::string text(const Context& context) const { return report_.text(context, steps_); }
  [[nodiscard]] Json json() const;

 private:
  struct Port {
    std::optional<Series> series;
    std::size_t reported = 0;  ///< its number in the report
  };

  TraceReplay(const std::vector<TracedPort>& ports, const ReplayOptions& options)
      : traced_(&ports),
        tolerance_(options.tolerance),
        ports_(ports.size()),
        report_(options.file, options.tolerance) {}

  const std::vector<TracedPort>* traced_;
  Tolerance tolerance_;
  std::vector<Port> ports_;
  std::size_t steps_ = 0;
  ReplayReport report_;
};

}  // namespace leapp::cli
