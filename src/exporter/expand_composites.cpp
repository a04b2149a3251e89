// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/expand_composites.h"

#include <fmt/format.h>

#include <vector>

#include "exporter/operator_body.h"
#include "exporter/simplify.h"

namespace leapp::exporter {
namespace {

constexpr int kMaxDepth = 8;  // of operators that call operators; torch's own are at most five deep

std::vector<graph::Node*> unsupported(const graph::Graph& graph, const IsSupported& is_supported) {
  std::vector<graph::Node*> found;
  for (const auto& node : graph.nodes()) {
    if (!is_supported(*node)) found.push_back(node.get());
  }
  return found;
}

void replace(graph::Graph& graph, graph::Node* node, const graph::Graph& body) {
  const std::vector<graph::Value*> outputs = insert_body(graph, node, body, body_operands(*node));
  for (std::size_t i = 0; i < outputs.size(); ++i) graph.replace_all_uses(node->result(i), outputs[i]);
  graph.erase(node);
}

/// The body of `node`, in supported operators only.
Result<graph::Graph> supported_body(const graph::Node& node, const IsSupported& is_supported, int depth) {
  if (depth > kMaxDepth) return unimplemented(fmt::format("{}: operators call each other too deeply", node.op()));
  LEAPP_ASSIGN_OR_RETURN(graph::Graph body, body_of(node));
  LEAPP_RETURN_IF_ERROR(simplify(body));
  for (graph::Node* inner : unsupported(body, is_supported)) {
    LEAPP_ASSIGN_OR_RETURN(const graph::Graph inside, supported_body(*inner, is_supported, depth + 1));
    replace(body, inner, inside);
  }
  return body;
}

}  // namespace

Result<bool> expand_composites(graph::Graph& graph, const IsSupported& is_supported, const Say& say) {
  bool changed = false;
  LEAPP_RETURN_IF_ERROR(change_inside(graph, [&](graph::Graph& inner) -> Status {
    LEAPP_ASSIGN_OR_RETURN(const bool inside, expand_composites(inner, is_supported, say));
    changed = changed || inside;
    return {};
  }));
  for (graph::Node* node : unsupported(graph, is_supported)) {
    const graph::SourceLocation& at = node->location();
    const std::string where = at.file.empty() ? "" : fmt::format("{}:{}: ", at.file, at.line);
    const auto body = supported_body(*node, is_supported, 1);
    if (!body.ok()) {
      say(fmt::format("{}{}", where, body.status().message()));
      continue;
    }
    say(fmt::format("{}{} is replaced by the {} operators it calls", where, node->qualified_name(),
                    body.value().nodes().size()));
    replace(graph, node, body.value());
    changed = true;
  }
  if (changed) LEAPP_RETURN_IF_ERROR(simplify(graph));
  return changed;
}

}  // namespace leapp::exporter
