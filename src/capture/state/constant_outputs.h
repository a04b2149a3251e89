// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs that depend on none of their node's inputs.
//
// Such an output may be state (a clock, a slice of a buffer), which often only a later call shows; it may be a constant
// because the program overwrote its input; or it may be announced by mistake. It can be told when the session ends.
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "capture/trace/trace.h"
#include "capture/trace/trace_builder.h"
#include "leapp/capture.h"

namespace leapp::capture {

struct NodeRecord;

/// `value`; one that depends on constants only behind an operator, so that what it reads is an operand like any other
/// should it turn out to be state.
ValuePtr set_apart(const ValuePtr& value, TraceBuilder& builder);

/// Whether `value` was set apart.
bool is_set_apart(const TracedValue& value);

/// What was set apart; others as they are.
const ValuePtr& bare(const ValuePtr& value);

/// Puts the bare values back, but for those that a leak points to. What turned out to depend on nothing is a constant
/// with a warning, where the program overwrote an input, or else a refusal of its node. REQUIRES: leaks are ports.
void settle_constant_outputs(const std::vector<std::unique_ptr<NodeRecord>>& nodes, const StartOptions& options,
                             Logger& log);

}  // namespace leapp::capture
