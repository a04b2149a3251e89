// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// Runs one node whose tensor arguments are constants; one Constant a result. Nothing: cannot, leave the node.
using Evaluator = std::function<std::optional<std::vector<Constant>>(const Node&)>;

struct FoldOptions {
  /// Results larger than this and larger than what they are made from stay operators: a bundle should not grow by
  /// megabytes for an aten::zeros.
  std::size_t max_bytes = std::size_t{64} * 1024;
  /// Results without elements stay operators: what they would hold, had they some, is known only from these.
  bool keep_empty = false;
};

/// Replaces nodes that only read constants, or no tensor at all, by their results. Random nodes stay.
/// Requires: a graph that verifies. Ensures: folded nodes are gone; constants they read may be dead.
/// Returns whether anything changed.
bool fold_constants(Graph& graph, const Evaluator& evaluate, const FoldOptions& options = {});

}  // namespace leapp::graph
