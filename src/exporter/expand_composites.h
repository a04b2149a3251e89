// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::exporter {

using IsSupported = std::function<bool(const graph::Node&)>;
using Say = std::function<void(const std::string&)>;

/// Replaces every node that is not supported by the operators its operator calls in turn, these by what
/// they call, and so on, until all are supported. Where that cannot be, the node stays whole. `say` hears of both, with
/// the line and the reason.
/// Requires: a graph that verifies; no session records. Ensures: inserted nodes are supported and have the location of
/// the node they replace. Returns whether anything changed.
[[nodiscard]] Result<bool> expand_composites(graph::Graph& graph, const IsSupported& is_supported, const Say& say);

}  // namespace leapp::exporter
