// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <utility>

#include "exporter/validate/runner.h"

namespace leapp::exporter {
namespace {

class TorchScriptRunner final : public ModelRunner {
 public:
  explicit TorchScriptRunner(torch::jit::Module model) : model_(std::move(model)) {}

  Result<std::vector<at::Tensor>> run(const std::vector<at::Tensor>& inputs) override {
    // A model runs a few times only: not worth specialising it.
    const torch::jit::GraphOptimizerEnabledGuard no_optimisation(false);
    std::vector<c10::IValue> values;
    for (const at::Tensor& input : inputs) values.emplace_back(input.clone());
    const c10::IValue result = model_.forward(std::move(values));
    std::vector<at::Tensor> outputs;
    if (result.isTensor()) {
      outputs.push_back(result.toTensor());
    } else if (!result.isTuple()) {
      return internal_error("expected a tensor or a tuple of tensors, found " + result.tagKind());
    } else {
      for (const c10::IValue& item : result.toTupleRef().elements()) outputs.push_back(item.toTensor());
    }
    return outputs;
  }

 private:
  torch::jit::Module model_;
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
  torch::jit::Module model = torch::jit::load(written.file.string());
  model.eval();
  return std::unique_ptr<ModelRunner>(std::make_unique<TorchScriptRunner>(std::move(model)));
}

}  // namespace leapp::exporter
