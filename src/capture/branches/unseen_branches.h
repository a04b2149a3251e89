// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What is told of branches that the paths of a node do not show from all sides.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "capture/branches/path_join.h"

namespace leapp::capture {

/// " (true at walk.py:8, false at walk.py:9)": the answers of the first `end` guards.
[[nodiscard]] std::string way_text(const std::vector<BranchCondition>& guards, std::size_t end);

/// Warns of guards that went one way only after some answers, and both ways after others, in what depends on them; and
/// of those that ask of what only one way computes, so that nobody has seen the other side. `told`: lines that have
/// been warned of; those warned of here are added.
void report_unseen(const PathJoin& join, std::set<LocationId>& told, Logger& log);

/// Warns of guards that were left out of a choice because the passes can be explained without them, and with them as
/// well.
void report_unproven(const PathJoin& join, std::set<LocationId>& told, Logger& log);

}  // namespace leapp::capture
