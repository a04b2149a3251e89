// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/pytorch_exporters.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "capture/front_end.h"
#include "capture/tensor_content.h"
#include "emit/torchscript/emitter.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

PytorchExporters tools() {
  const std::shared_ptr<capture::FrontEnd> asked = capture::front_end();
  const PytorchExporters* known = asked->pytorch_exporters();
  return known ? *known : PytorchExporters();
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
  if (request.backend == "onnx-torchscript") {
    auto bytes = emit::emit_torchscript(node.graph);
    if (!bytes.ok()) return failed(bytes.status());
    request.torchscript = std::move(bytes).value();
  }
  for (const auto& value : node.graph.constants()) request.constants.push_back(to_tensor(value->constant()));
  for (const std::size_t i : node.inputs) {
    request.sample.push_back(capture::tensor_of(node.record->samples.front().inputs[i]));
  }
  PytorchAnswer answer = known.emit(request);
  if (!answer.chatter.empty()) {
    log.debug(fmt::format("node '{}': {} says:\n{}", node.record->name, request.backend, answer.chatter));
  }
  if (!answer.model.ok()) return failed(answer.model.status());
  return std::move(answer.model).value();
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
