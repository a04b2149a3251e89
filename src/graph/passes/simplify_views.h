// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Removes views that change nothing: reshape, expand or slice to the same shape, the identity permute, a slice_scatter
/// that overwrites everything; joins a reshape of a reshape and a permute of a permute.
/// Requires: a graph that verifies. Ensures: the outputs hold the same numbers; a view that only fed a joined one is
/// gone. Returns whether anything changed.
bool simplify_views(Graph& graph);

}  // namespace leapp::graph
