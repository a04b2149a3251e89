// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/trace/record.h"
#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// The graph of what a node's first call computed. Constants share the tensors' memory. Fails when a constant has
/// changed since stop() or when an operator writes and has no functional form.
/// REQUIRES: the session has stopped.
Result<graph::Graph> to_graph(const NodeRecord& node);

/// What an operator is in a graph: its name, its line and whether it draws, without arguments and results.
[[nodiscard]] graph::NodeSpec spec_of(const TraceOp& op);

}  // namespace leapp::capture
