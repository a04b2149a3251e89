// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "capture/to_graph.h"
#include "emit/onnx/emitter.h"
#include "exporter/expand_composites.h"
#include "exporter/simplify.h"
#include "graph/passes/unused_inputs.h"
#include "graph/text.h"

namespace leapp::exporter {
namespace {

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

// State that has one name keeps it in TorchScript and needs two in ONNX.
void name_ports(PreparedNode& node) {
  for (const std::size_t i : node.inputs) node.input_names.push_back(node.record->inputs[i].name);
  for (const capture::PortRecord& output : node.record->outputs) node.output_names.push_back(output.name);
  if (node.backend.format != "onnx" || node.backend.kind == BackendKind::kGiven) return;
  const emit::OnnxPortNames names = emit::onnx_port_names(node.graph);
  node.input_names = names.inputs;
  node.output_names = names.outputs;
}

}  // namespace

Result<PreparedNode> prepare(const capture::NodeRecord& node, Backend backend, Logger& log) {
  PreparedNode prepared;
  prepared.record = &node;
  prepared.backend = std::move(backend);
  if (prepared.backend.kind == BackendKind::kNone || prepared.backend.kind == BackendKind::kGiven) {
    prepared.inputs.resize(node.inputs.size());
    std::iota(prepared.inputs.begin(), prepared.inputs.end(), std::size_t{0});
    name_ports(prepared);
    return prepared;
  }
  LEAPP_ASSIGN_OR_RETURN(graph::Graph graph, capture::to_graph(node));
  LEAPP_RETURN_IF_ERROR(simplify(graph));
  if (prepared.backend.kind == BackendKind::kOnnx) {
    const auto has_mapping = [](const graph::Node& n) { return emit::is_supported(n.op(), n.overload()); };
    const auto say = [&log](const std::string& text) { log.debug(text); };
    LEAPP_RETURN_IF_ERROR(expand_composites(graph, has_mapping, say).status());
  }
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
  name_ports(prepared);
  log.debug(fmt::format("node '{}':\n{}", node.name, graph::print(prepared.graph, {.elide_large_constants = true})));
  return prepared;
}

const PreparedNode& named(const std::vector<PreparedNode>& nodes, const std::string& name) {
  return *std::find_if(nodes.begin(), nodes.end(), [&](const PreparedNode& node) { return node.record->name == name; });
}

}  // namespace leapp::exporter
