// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <utility>

#include "exporter/validate/runners/engines.h"
#include "exporter/validate/runners/runner.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

std::vector<at::Tensor> tensors_of(const c10::IValue& result) {
  if (result.isTensor()) return {result.toTensor()};
  std::vector<at::Tensor> outputs;
  for (const c10::IValue& item : result.toTupleRef().elements()) outputs.push_back(item.toTensor());
  return outputs;
}

bool fit(const std::vector<at::Tensor>& outputs, const std::vector<bundle::Port>& ports) {
  return std::equal(outputs.begin(), outputs.end(), ports.begin(), ports.end(),
                    [](const at::Tensor& output, const bundle::Port& port) {
                      return output.scalar_type() == to_scalar_type(port.dtype) && output.sizes() == port.shape;
                    });
}

/// What the deploying engine refuses, for outputs of another number or type, is run as it is written: then they can be
/// compared and described.
class TorchScriptRunner final : public ModelRunner {
 public:
  TorchScriptRunner(std::unique_ptr<ModelRunner> deployed, const WrittenModel& written)
      : deployed_(std::move(deployed)), file_(written.file), ports_(written.model->outputs) {}

  Result<std::vector<at::Tensor>> run(const std::vector<at::Tensor>& inputs) override {
    // A model runs a few times only: not worth the watching of torch's optimiser.
    const torch::jit::GraphOptimizerEnabledGuard no_optimisation(false);
    auto outputs = deployed_->run(inputs);
    if (outputs.ok()) return outputs;
    std::vector<c10::IValue> values;
    for (const at::Tensor& input : inputs) values.emplace_back(input.clone());
    torch::jit::Module model = torch::jit::load(file_.string());
    model.eval();
    const c10::IValue result = model.forward(std::move(values));
    if (!result.isTensor() && !result.isTuple()) {
      return internal_error("expected a tensor or a tuple of tensors, found " + result.tagKind());
    }
    std::vector<at::Tensor> written = tensors_of(result);
    if (fit(written, ports_)) return outputs;
    return written;
  }

 private:
  std::unique_ptr<ModelRunner> deployed_;
  std::filesystem::path file_;
  std::vector<bundle::Port> ports_;
};

}  // namespace

std::shared_ptr<void> without_torchscript_optimiser() {
  return std::make_shared<torch::jit::GraphOptimizerEnabledGuard>(false);
}

std::string reason_of(const std::exception& failure) {
  const auto* torch = dynamic_cast<const c10::Error*>(&failure);
  return torch == nullptr ? failure.what() : torch->what_without_backtrace();
}

Result<std::unique_ptr<ModelRunner>> open_torchscript_runner(const WrittenModel& written) {
  LEAPP_ASSIGN_OR_RETURN(auto engine, open_deployment_engine("jit"));
  LEAPP_ASSIGN_OR_RETURN(auto model,
                         engine->load({.name = written.file.filename().string(), .path = written.file, .bytes = {}}));
  auto deployed = runner_on({std::move(engine), std::move(model), /*describes_outputs=*/false}, *written.model);
  return std::unique_ptr<ModelRunner>(std::make_unique<TorchScriptRunner>(std::move(deployed), written));
}

}  // namespace leapp::exporter
