// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "capture/hook.h"
#include "capture/to_graph.h"
#include "emit/torchscript/evaluator.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/geometry.h"
#include "graph/passes/pass_manager.h"
#include "graph/passes/unused_inputs.h"
#include "graph/text.h"

namespace leapp::exporter {
namespace {

Status simplify(graph::Graph& graph) {
  const capture::Suppress quiet;
  const std::vector<graph::Pass> passes = {
      {"dead_code", graph::eliminate_dead_code},
      {"fold_constants", [](graph::Graph& g) { return graph::fold_constants(g, emit::evaluate); }},
      {"geometry", graph::restore_views},
      {"common_subexpressions", graph::merge_common_subexpressions},
      {"dead_code", graph::eliminate_dead_code},
  };
  auto changed = graph::run_passes(graph, passes);
  return changed.ok() ? Status() : changed.status();
}

std::set<std::size_t> random_outputs(const graph::Graph& graph) {
  std::unordered_set<const graph::Value*> tainted;
  for (const auto& node : graph.nodes()) {
    const std::vector<graph::Value*> inputs = node->inputs();
    const bool random = node->is_random() || std::any_of(inputs.begin(), inputs.end(), [&](const graph::Value* value) {
                          return tainted.contains(value);
                        });
    if (!random) continue;
    for (const auto& result : node->results()) tainted.insert(result.get());
  }
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    if (tainted.contains(graph.outputs()[i].value)) found.insert(i);
  }
  return found;
}

}  // namespace

Result<PreparedNode> prepare(const capture::NodeRecord& node, Logger& log) {
  LEAPP_ASSIGN_OR_RETURN(graph::Graph graph, capture::to_graph(node));
  LEAPP_RETURN_IF_ERROR(simplify(graph));
  PreparedNode prepared;
  prepared.record = &node;
  const std::vector<std::string> dropped = graph::drop_unused_inputs(graph);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& name = node.inputs[i].name;
    if (std::find(dropped.begin(), dropped.end(), name) == dropped.end()) {
      prepared.inputs.push_back(i);
    } else {
      log.info(fmt::format("node '{}': input '{}' reaches no output and is dropped", node.name, name));
    }
  }
  prepared.random_outputs = random_outputs(graph);
  prepared.graph = std::move(graph);
  log.debug(fmt::format("node '{}':\n{}", node.name, graph::print(prepared.graph, {.elide_large_constants = true})));
  return prepared;
}

}  // namespace leapp::exporter
