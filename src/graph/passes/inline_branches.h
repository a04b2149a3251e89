// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Writes conditionals as what both sides compute and an `aten::where` for each result: for those who know no
/// conditionals. Both sides then run, and one that would fail does.
/// Requires: a graph that verifies. Ensures: no conditional is left. Returns whether anything changed.
bool inline_branches(Graph& graph);

}  // namespace leapp::graph
