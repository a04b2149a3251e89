// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pass_manager.h"

#include "graph/verify.h"

namespace leapp::graph {
namespace {

Status verify_in_debug([[maybe_unused]] const Graph& graph, [[maybe_unused]] const std::string& when) {
#ifndef NDEBUG
  if (Status status = verify(graph); !status.ok()) return {status.code(), when + ": " + status.message()};
#endif
  return {};
}

}  // namespace

Result<bool> run_passes(Graph& graph, const std::vector<Pass>& passes) {
  bool changed = false;
  LEAPP_RETURN_IF_ERROR(verify_in_debug(graph, "before the first pass"));
  for (const Pass& pass : passes) {
    changed = pass.run(graph) || changed;
    LEAPP_RETURN_IF_ERROR(verify_in_debug(graph, "after pass " + pass.name));
  }
  return changed;
}

}  // namespace leapp::graph
