// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/simplify.h"

#include <vector>

#include "capture/hook.h"
#include "emit/torchscript/evaluator.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/geometry.h"
#include "graph/passes/pass_manager.h"
#include "graph/passes/sink_branches.h"

namespace leapp::exporter {

Status simplify(graph::Graph& graph, const graph::FoldOptions& options) {
  const capture::Suppress quiet;
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

Status sink(graph::Graph& graph) {
  auto changed = graph::run_passes(graph, {{"sink_branches", [](graph::Graph& g) { return graph::sink_branches(g); }}});
  return changed.ok() ? Status() : changed.status();
}

}  // namespace leapp::exporter
