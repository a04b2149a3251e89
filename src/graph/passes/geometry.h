// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Turns as_strided and as_strided_scatter back into reshape, slice, select, permute, diagonal, expand and their
/// scatters, with as few nodes as it finds; what it cannot express so stays. A read of what the last scatter wrote
/// becomes that value.
/// Requires: a graph that verifies. Ensures: the outputs hold the same numbers; new nodes have complete arguments and
/// the location of what they replace; flat values that nothing reads any more are gone.
/// Returns whether anything changed.
bool restore_views(Graph& graph);

}  // namespace leapp::graph
