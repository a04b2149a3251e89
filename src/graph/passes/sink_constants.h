// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Constants that are handed to the graphs inside a conditional or a loop become their own, over the same bytes and
/// under the same name: there they can be folded, and are weights to whoever writes a model.
bool sink_constants(Graph& graph);

}  // namespace leapp::graph
