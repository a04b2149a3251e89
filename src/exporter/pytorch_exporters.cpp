// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/pytorch_exporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "capture/recorder/tensor_content.h"
#include "capture/session/front_end.h"
#include "emit/torchscript/emitter.h"
#include "graph/conditional.h"
#include "graph/loop.h"
#include "graph/passes/inline_branches.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

PytorchExporters tools() {
  const std::shared_ptr<capture::FrontEnd> asked = capture::front_end();
  const PytorchExporters* known = asked->pytorch_exporters();
  return known ? *known : PytorchExporters();
}

bool has_branches(const graph::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const auto& node) { return graph::is_conditional(*node); });
}

bool has_loops(const graph::Graph& graph) {
  bool found = false;
  graph::for_each_graph(graph, [&](const graph::Graph& each) {
    found = found || std::any_of(each.nodes().begin(), each.nodes().end(),
                                 [](const auto& node) { return graph::is_loop(*node); });
  });
  return found;
}

Result<std::string> attempt(PytorchRequest request, const graph::Graph& graph, const PytorchExporters& known,
                            Logger& log) {
  request.graph = &graph;
  if (request.backend == "onnx-torchscript") {
    LEAPP_ASSIGN_OR_RETURN(request.torchscript, emit::emit_torchscript(graph));
  }
  graph::for_each_graph(graph, [&](const graph::Graph& each) {
    for (const auto& value : each.constants()) request.constants.emplace(value.get(), to_tensor(value->constant()));
  });
  PytorchAnswer answer = known.emit(request);
  if (!answer.chatter.empty()) {
    log.debug(fmt::format("node '{}': {} says:\n{}", request.node->record->name, request.backend, answer.chatter));
  }
  return std::move(answer.model);
}

}  // namespace

bool has_pytorch_exporters() { return tools().emit != nullptr; }

Result<std::string> export_with_pytorch(PytorchRequest request, Logger& log) {
  const PreparedNode& node = *request.node;
  const auto failed = [&](const Status& status) {
    return Status(status.code(),
                  fmt::format("node '{}': export_with='{}': {}", node.record->name, request.backend, status.message()));
  };
  const PytorchExporters known = tools();
  if (!known.emit) {
    return failed(
        unimplemented("PyTorch's exporters are Python, which this program does not have; use 'jit' or 'onnx'"));
  }
  if (request.backend != "onnx-torchscript" && has_loops(node.graph)) {
    return failed(unimplemented("the node has a loop whose rounds data decides, which only 'jit' and 'onnx' write"));
  }
  for (const std::size_t i : node.inputs) {
    request.sample.push_back(capture::tensor_of(node.record->samples.front().inputs[i]));
  }
  auto model = attempt(request, node.graph, known, log);
  if (!model.ok() && model.status().code() == StatusCode::kUnimplemented && has_branches(node.graph)) {
    log.info(fmt::format("node '{}': export_with='{}' cannot write a branch ({}); both sides are computed",
                         node.record->name, request.backend, model.status().message()));
    graph::Graph flat = graph::clone(node.graph);
    graph::inline_branches(flat);
    model = attempt(request, flat, known, log);
  }
  if (!model.ok()) return failed(model.status());
  return std::move(model).value();
}

Result<Pt2Model> load_pt2(const std::filesystem::path& file) {
  const PytorchExporters known = tools();
  if (!known.load) return unimplemented("a 'pt2' model runs in Python, which this program does not have");
  return known.load(file);
}

Result<std::vector<std::string>> inputs_of_pt2(const std::filesystem::path& file) {
  const PytorchExporters known = tools();
  if (!known.inputs) return unimplemented("a 'pt2' model is read in Python, which this program does not have");
  return known.inputs(file);
}

}  // namespace leapp::exporter
