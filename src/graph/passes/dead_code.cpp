// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/dead_code.h"

#include <algorithm>

namespace leapp::graph {

bool eliminate_dead_code(Graph& graph) {
  bool changed = false;
  // Users stand behind what they use, so one walk from the back is enough.
  for (auto position = graph.nodes().end(); position != graph.nodes().begin();) {
    Node* node = std::prev(position)->get();
    const auto is_unused = [](const std::unique_ptr<Value>& result) { return result->unused(); };
    if (std::all_of(node->results().begin(), node->results().end(), is_unused)) {
      graph.erase(node);
      changed = true;
    } else {
      --position;
    }
  }
  for (auto position = graph.constants().begin(); position != graph.constants().end();) {
    Value* constant = (position++)->get();
    if (!constant->unused()) continue;
    graph.erase(constant);
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
