// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/branches/phase_paths.h"
#include "capture/branches/schedule.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

/// What the calls of a node did in turn.
[[nodiscard]] std::string phase_text(const NodeRecord& node, const Schedule& turn);
[[nodiscard]] std::string phase_remedy();

/// The number that decides between the ways becomes state. REQUIRES: the paths of `phases` have been joined in `node`.
void add_phase(NodeRecord& node, const PhasePaths& phases, TraceBuilder& builder, ConstantEvaluator& evaluator);

}  // namespace leapp::capture
