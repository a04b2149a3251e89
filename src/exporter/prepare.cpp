// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/prepare.h"

#include <ATen/core/Tensor.h>
#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "capture/recorder/tensor_content.h"
#include "capture/trace/slice.h"
#include "capture/trace/to_graph.h"
#include "emit/onnx/emitter.h"
#include "exporter/data_lengths.h"
#include "exporter/expand_composites.h"
#include "exporter/given_inputs.h"
#include "exporter/simplify.h"
#include "graph/conditional.h"
#include "graph/passes/unused_inputs.h"
#include "graph/text.h"

namespace leapp::exporter {
namespace {

using Tainted = std::unordered_set<const graph::Value*>;

std::set<std::size_t> random_outputs(const graph::Graph& graph, Tainted tainted = {});

/// Of a branch whose condition is not random: which results either side makes of random numbers.
std::set<std::size_t> random_results(const graph::Conditional& branch, const Tainted& outside) {
  std::set<std::size_t> found;
  for (const graph::GraphPtr& side : {branch.then_side, branch.else_side}) {
    Tainted inside;
    std::size_t index = 0;
    for (const auto& input : side->inputs()) {
      if (outside.contains(branch.operands[index++])) inside.insert(input.get());
    }
    found.merge(random_outputs(*side, std::move(inside)));
  }
  return found;
}

std::set<std::size_t> random_outputs(const graph::Graph& graph, Tainted tainted) {
  for (const auto& node : graph.nodes()) {
    if (graph::is_conditional(*node)) {
      const graph::Conditional branch = graph::conditional_of(*node);
      if (!tainted.contains(branch.condition)) {
        for (const std::size_t i : random_results(branch, tainted)) tainted.insert(node->result(i));
        continue;
      }
    }
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
  if (node.backend.format != bundle::ModelFormat::kOnnx || node.backend.kind == BackendKind::kGiven) return;
  const emit::OnnxPortNames names = emit::onnx_port_names(node.graph);
  node.input_names = names.inputs;
  node.output_names = names.outputs;
}

void log_dropped(const PreparedNode& node, const char* why, Logger& log) {
  for (std::size_t i = 0; i < node.record->inputs.size(); ++i) {
    if (std::find(node.inputs.begin(), node.inputs.end(), i) != node.inputs.end()) continue;
    log.info(
        fmt::format("node '{}': input '{}' {} and is dropped", node.record->name, node.record->inputs[i].name, why));
  }
}

std::vector<std::size_t> all_inputs(const capture::NodeRecord& node) {
  std::vector<std::size_t> all(node.inputs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Those that reach an output; all, where that cannot be known.
std::vector<std::size_t> reaching_inputs(const capture::NodeRecord& node) {
  if (node.left_torch) return all_inputs(node);
  std::set<std::string> read;
  const auto note = [&](const capture::ValuePtr& value) {
    if (value->kind == capture::TracedKind::kInput) read.insert(value->origin->port);
  };
  const capture::Slice slice = capture::slice_of(node.output_values);
  for (const capture::TraceOp* op : slice.ops) for_each_operand(*op, note);
  for (const capture::ValuePtr& value : node.output_values) note(value);
  std::vector<std::size_t> reaching;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (read.contains(node.inputs[i].name)) reaching.push_back(i);
  }
  return reaching;
}

/// Of a node without a graph.
void choose_inputs(PreparedNode& node, Logger& log) {
  const capture::NodeRecord& record = *node.record;
  node.inputs = reaching_inputs(record);
  if (node.backend.kind == BackendKind::kNone) return log_dropped(node, "reaches no output", log);
  const auto model = inputs_of_model(node.backend);
  if (!model.ok()) {  // validation says why
    node.inputs = all_inputs(record);
    return;
  }
  node.inputs = inputs_for_model(model.value(), record.inputs, node.inputs);
  if (!node.inputs.empty() || model.value().empty()) return log_dropped(node, "is not an input of the model", log);
  std::vector<std::string> takes;
  for (const ModelInput& input : model.value()) takes.push_back("'" + input.name + "'");
  std::vector<std::string> given;
  for (const capture::PortRecord& input : record.inputs) given.push_back("'" + input.name + "'");
  node.inputs = all_inputs(record);
  log.warning(fmt::format("node '{}': the model {} takes {}, and the node announces {}: neither names nor number agree",
                          record.name, node.backend.model_path.filename().string(), join(takes, ", "),
                          join(given, ", ")));
}

}  // namespace

void shape_state(capture::NodeRecord& node) {
  const auto shape = [](const capture::PortRecord& port, capture::ContentPtr& content) {
    const at::Tensor tensor = capture::tensor_of(content);
    const c10::IntArrayRef sizes = port.type.sizes;
    if (!tensor.defined() || tensor.sizes() == sizes || tensor.numel() != c10::multiply_integers(sizes)) return;
    content = capture::content_of(tensor.reshape(sizes));
  };
  for (capture::Sample& sample : node.samples) {
    for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
      const capture::PortRecord& port = node.inputs[i];
      if (port.source && port.source->feedback) shape(port, sample.inputs[i]);
    }
    for (std::size_t i = 0; i < sample.outputs.size(); ++i) {
      if (node.outputs[i].state) shape(node.outputs[i], sample.outputs[i]);
    }
  }
}

Result<PreparedNode> prepare(const capture::NodeRecord& node, Backend backend, Logger& log) {
  PreparedNode prepared;
  prepared.record = &node;
  prepared.backend = std::move(backend);
  if (prepared.backend.kind == BackendKind::kNone || prepared.backend.kind == BackendKind::kGiven) {
    choose_inputs(prepared, log);
    name_ports(prepared);
    return prepared;
  }
  LEAPP_ASSIGN_OR_RETURN(graph::Graph graph, capture::to_graph(node));
  LEAPP_RETURN_IF_ERROR(fix_lengths(graph, node.calls, log));
  LEAPP_RETURN_IF_ERROR(simplify(graph));
  if (prepared.backend.kind == BackendKind::kOnnx) {
    const auto has_mapping = [](const graph::Node& n) { return emit::is_supported(n.op(), n.overload()); };
    const auto say = [&log](const std::string& text) { log.debug(text); };
    LEAPP_RETURN_IF_ERROR(expand_composites(graph, has_mapping, say).status());
  }
  LEAPP_RETURN_IF_ERROR(sink(graph));
  const std::vector<std::string> dropped = graph::drop_unused_inputs(graph);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& name = node.inputs[i].name;
    if (std::find(dropped.begin(), dropped.end(), name) == dropped.end()) prepared.inputs.push_back(i);
  }
  log_dropped(prepared, "reaches no output", log);
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
