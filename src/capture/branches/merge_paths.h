// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Both sides of a branch: the paths that the calls of a node took become one trace.
//
//   guard 3 ──yes──> path 0        output = where(guard 3, path 0's, where(guard 5, path 2's, path 1's))
//           └─no──> guard 5 ──yes──> path 2      the same for what each path leaves in state
//                           └─no───> path 1
//
// What paths compute alike is one value (value_numbers.h), so their common beginning stands there once. After that the
// node has one path, like any other, and promote.h makes ports of its state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// For all nodes. Paths that cannot be joined with the first become differences of it, as of any later call. Warns
/// about guards that went one way only. REQUIRES: all calls have been recorded.
void merge_paths(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, ConstantEvaluator& evaluator,
                 Logger& log);

}  // namespace leapp::capture
