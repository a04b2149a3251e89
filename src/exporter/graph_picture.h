// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "draw/picture.h"
#include "graph/graph.h"

namespace leapp::exporter {

/// Operators and constants of a captured graph, with the lines of the user's program as they are in its files now.
void add_graph(const graph::Graph& graph, draw::PictureNode& node);

}  // namespace leapp::exporter
