// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// Drops inputs that no node and no output uses, and returns their names in order.
/// Requires: dead code is gone (an input that only dead nodes read stays). Ensures: every input left is used.
std::vector<std::string> drop_unused_inputs(Graph& graph);

}  // namespace leapp::graph
