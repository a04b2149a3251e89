// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pass_manager.h"

#include "graph/verify.h"

namespace leapp::graph {
namespace {

Status verified(const Graph& graph, const std::string& when) {
  const Status status = verify(graph);
  return status.ok() ? status : Status(status.code(), when + ": " + status.message());
}

}  // namespace

Result<bool> run_passes(Graph& graph, const std::vector<Pass>& passes) {
  bool changed = false;
  LEAPP_RETURN_IF_ERROR(verified(graph, "before the first pass"));
  for (const Pass& pass : passes) {
    changed = pass.run(graph) || changed;
    LEAPP_RETURN_IF_ERROR(verified(graph, "after pass " + pass.name));
  }
  return changed;
}

}  // namespace leapp::graph
