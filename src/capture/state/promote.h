// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "leapp/capture.h"

namespace leapp::capture {

class ConstantEvaluator;
struct NodeRecord;

/// Makes ports of the leaks that were found, as `policy` says: an input in the place of each operand, and an output of
/// the node that makes the value where it has none yet. Declared state always becomes a port.
void promote_leaks(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, ConstantEvaluator& evaluator,
                   Logger& log);

}  // namespace leapp::capture
