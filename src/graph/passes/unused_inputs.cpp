// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/unused_inputs.h"

namespace leapp::graph {

std::vector<std::string> drop_unused_inputs(Graph& graph) {
  std::vector<std::string> dropped;
  for (auto position = graph.inputs().begin(); position != graph.inputs().end();) {
    Value* input = (position++)->get();
    if (!input->unused()) continue;
    dropped.push_back(input->name());
    graph.erase(input);
  }
  return dropped;
}

}  // namespace leapp::graph
