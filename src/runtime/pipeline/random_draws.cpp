// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/random_draws.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "leapp/bundle/reader.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"

namespace leapp::runtime {
namespace {

constexpr int kDeepest = 64;

bool has_seed(const onnx::NodeView& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const onnx::AttributeProto& one) { return one.name == "seed"; });
}

Result<Draws> draws_of_nodes(const std::vector<onnx::Encoded>& nodes, int depth) {
  Draws found = Draws::kNone;
  if (depth > kDeepest) return unimplemented("graphs are nested too deep");
  for (const onnx::Encoded bytes : nodes) {
    LEAPP_ASSIGN_OR_RETURN(const onnx::NodeView node, onnx::read_node(bytes));
    const bool own = node.domain.empty() || node.domain == "ai.onnx";
    if (own && is_random(node.op_type)) found = std::max(found, has_seed(node) ? Draws::kSeeded : Draws::kUnseeded);
    for (const onnx::Encoded inner : node.graphs) {
      LEAPP_ASSIGN_OR_RETURN(const onnx::GraphView graph, onnx::read_graph(inner));
      LEAPP_ASSIGN_OR_RETURN(const Draws inside, draws_of_nodes(graph.nodes, depth + 1));
      found = std::max(found, inside);
    }
  }
  return found;
}

}  // namespace

bool is_random(std::string_view op) {
  return op.starts_with("Random") || op == "Multinomial" || op == "Bernoulli" || op == "Dropout";
}

Result<Draws> draws_of(const std::filesystem::path& model) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                         bundle::read_file(model, std::numeric_limits<std::int32_t>::max()));
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView view, onnx::read_model(bytes));
  return draws_of_nodes(view.graph.nodes, 0);
}

}  // namespace leapp::runtime
