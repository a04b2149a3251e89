// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/simplify.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "capture/hook/unrecorded.h"
#include "emit/torchscript/evaluator.h"
#include "graph/conditional.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/geometry.h"
#include "graph/passes/pass_manager.h"
#include "graph/passes/sink_branches.h"
#include "graph/passes/sink_constants.h"

namespace leapp::exporter {
namespace {

Status simplify_flat(graph::Graph& graph, const graph::FoldOptions& options) {
  const std::vector<graph::Pass> passes = {
      {"dead_code", graph::eliminate_dead_code},
      {"fold_constants", [&](graph::Graph& g) { return graph::fold_constants(g, emit::evaluate, options); }},
      {"geometry", graph::restore_views},
      {"common_subexpressions", graph::merge_common_subexpressions},
      {"dead_code", graph::eliminate_dead_code},
  };
  auto changed = graph::run_passes(graph, passes);
  return changed.ok() ? Status() : changed.status();
}

bool has_inner_graphs(const graph::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return !graph::graphs_of(*node).empty(); });
}

}  // namespace

Status change_inside(graph::Graph& graph, const std::function<Status(graph::Graph&)>& change) {
  for (const auto& node : graph.nodes()) {
    for (std::size_t i = 0; i < node->arguments().size(); ++i) {
      const auto* inner = std::get_if<graph::GraphPtr>(&node->arguments()[i].value);
      if (inner == nullptr) continue;
      graph::Graph changed = graph::clone(**inner);
      LEAPP_RETURN_IF_ERROR(change(changed));
      // A node knows whether what it holds is random, and it could be that nobody needed that.
      if (graph::has_random(changed) != graph::has_random(**inner)) continue;
      graph.set_argument(node.get(), i, std::make_shared<const graph::Graph>(std::move(changed)));
    }
  }
  return {};
}

Status simplify(graph::Graph& graph, const graph::FoldOptions& options) {
  const capture::Suppress quiet;
  LEAPP_RETURN_IF_ERROR(simplify_flat(graph, options));
  if (!has_inner_graphs(graph)) return {};
  auto sunk = graph::run_passes(graph, {{"sink_constants", graph::sink_constants}});
  if (!sunk.ok()) return sunk.status();
  LEAPP_RETURN_IF_ERROR(change_inside(graph, [&](graph::Graph& inner) { return simplify(inner, options); }));
  return simplify_flat(graph, options);
}

Status sink(graph::Graph& graph) {
  auto changed = graph::run_passes(graph, {{"sink_branches", [](graph::Graph& g) { return graph::sink_branches(g); }}});
  return changed.ok() ? Status() : changed.status();
}

}  // namespace leapp::exporter
