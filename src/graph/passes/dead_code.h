// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Drops nodes none of whose results is used, and constants that nothing uses. Of conditionals also what is dead inside
/// them: results that nobody reads, and operands that neither side reads.
/// Requires: a graph that verifies. Ensures: every node and constant left reaches an output.
/// Returns whether anything changed.
bool eliminate_dead_code(Graph& graph);

}  // namespace leapp::graph
