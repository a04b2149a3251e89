// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::graph {

struct Pass {
  std::string name;
  std::function<bool(Graph&)> run;  ///< returns whether it changed anything
};

/// Runs the passes in order, each one once. The verifier runs before the first and after each one, in every build: it
/// costs little beside emitting the graph. Its error names the pass. The value says whether any of them changed
/// anything.
[[nodiscard]] Result<bool> run_passes(Graph& graph, const std::vector<Pass>& passes);

}  // namespace leapp::graph
