// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What is told of lines that decide: how often they went which way, and of which one side was never seen.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/log.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// Whether an input, a draw or one of `states` goes into it.
[[nodiscard]] bool depends(const ValuePtr& value, const std::map<Use, std::string>& states);

/// For all guards of a node, before its paths are joined. Gives the lines that it warns of.
std::set<LocationId> report_guards(const NodeRecord& node, Logger& log);

/// "walk.py:8: branches on data, aten::is_nonzero in round 2: 4 times yes, 36 times no"
[[nodiscard]] std::string guard_text(const ConditionPlace& place, const ConditionCount& count);

}  // namespace leapp::capture
