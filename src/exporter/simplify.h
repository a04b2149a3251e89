// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "graph/graph.h"
#include "graph/passes/fold_constants.h"
#include "leapp/base/status.h"

namespace leapp::exporter {

/// The passes every captured graph goes through: constants folded, views as views again, nothing twice, nothing dead;
/// also in the graphs inside its nodes.
[[nodiscard]] Status simplify(graph::Graph& graph, const graph::FoldOptions& options = {});

/// Puts what `change` makes of them in the place of the graphs inside nodes.
[[nodiscard]] Status change_inside(graph::Graph& graph, const std::function<Status(graph::Graph&)>& change);

/// Puts the sides of branches that can fail or are costly into conditionals: the last thing done to a graph.
[[nodiscard]] Status sink(graph::Graph& graph);

}  // namespace leapp::exporter
