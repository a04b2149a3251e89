// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Merges constants of the same type and bytes, then nodes of the same operator and arguments; numbers compare by their
/// bits, random nodes never merge. The first one stays, and so does its name; of constants, the first that somebody
/// named.
/// Requires: a graph that verifies. Ensures: no two constants and no two deterministic nodes are the same.
/// Returns whether anything changed.
bool merge_common_subexpressions(Graph& graph);

}  // namespace leapp::graph
