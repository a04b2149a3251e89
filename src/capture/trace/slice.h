// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// The part of a trace that some values need.
struct Slice {
  std::vector<const TraceOp*> ops;                       ///< in the order in which they ran
  std::vector<std::shared_ptr<ConstantCell>> constants;  ///< in the order of first use
};

Slice slice_of(const std::vector<ValuePtr>& values);

/// Says, with the user's line, which constants of a node are not what the user would take for one.
void report_constants(const std::string& node, const Slice& slice, Logger& log);

/// Remembers what the constants hold, so that a change before compile_graph is noticed.
void seal_constants(const Slice& slice);

}  // namespace leapp::capture
