// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "exporter/validate/runners/engines.h"
#include "exporter/validate/runners/runner.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

std::string names_of(const std::vector<engine::TensorInfo>& tensors) {
  std::vector<std::string> names;
  for (const engine::TensorInfo& tensor : tensors) names.push_back(tensor.name);
  return join(names, ", ");
}

bool fits(const engine::TensorInfo& info, const bundle::Port& port) {
  if (info.dtype && *info.dtype != port.dtype) return false;
  if (!info.shape) return true;
  return std::equal(info.shape->begin(), info.shape->end(), port.shape.begin(), port.shape.end(),
                    [](std::int64_t model, std::int64_t ours) { return model < 0 || model == ours; });
}

/// The engine would bind what it knows and leave the rest.
std::optional<OutputProblem> compare_outputs(const std::vector<engine::TensorInfo>& found,
                                             const std::vector<bundle::Port>& expected) {
  OutputProblem problem;
  if (found.size() != expected.size()) {
    problem.kind = ProblemKind::kCount;
    problem.brief = fmt::format("expected {} outputs, found {} ({})", expected.size(), found.size(), names_of(found));
    return problem;
  }
  for (const bundle::Port& port : expected) {
    const auto info = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.name == port.name; });
    if (info == found.end() || fits(*info, port)) continue;
    problem.kind = ProblemKind::kType;
    problem.output = port.name;
    problem.expected = {port.dtype, port.shape};
    problem.found = {info->dtype.value_or(port.dtype), info->shape.value_or(port.shape)};
    problem.brief = fmt::format("output '{}': expected {}, found {}", port.name, type_text(port.dtype, port.shape),
                                type_text(problem.found.dtype, problem.found.shape));
    return problem;
  }
  return std::nullopt;
}

/// Runs on tensors of its own, which the engine is bound to.
class EngineRunner final : public ModelRunner {
 public:
  EngineRunner(LoadedModel loaded, const bundle::Model& ports)
      : engine_(std::move(loaded.engine)), model_(std::move(loaded.model)) {
    if (loaded.describes_outputs) problem_ = compare_outputs(model_->outputs(), ports.outputs);
    allocate(ports.inputs, inputs_, binding_.inputs);
    allocate(ports.outputs, outputs_, binding_.outputs);
  }

  Result<std::vector<at::Tensor>> run(const std::vector<at::Tensor>& inputs) override {
    if (inputs.size() != inputs_.size()) return internal_error("the sample has another number of inputs than the YAML");
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs_[i].copy_(inputs[i]);
    if (!prepared_) {
      LEAPP_ASSIGN_OR_RETURN(at_, model_->prepare(binding_));
      prepared_ = true;
    } else if (!model_->run(at_)) {
      return model_->error();
    }
    return outputs_;
  }

  [[nodiscard]] std::optional<OutputProblem> signature_problem() const override { return problem_; }

 private:
  static void allocate(const std::vector<bundle::Port>& ports, std::vector<at::Tensor>& tensors,
                       std::vector<engine::BoundBuffer>& buffers) {
    for (const bundle::Port& port : ports) {
      const at::Tensor tensor = at::empty(port.shape, to_scalar_type(port.dtype));
      // An empty tensor has no memory; the engine wants an address all the same.
      alignas(64) static std::byte nothing{};
      buffers.push_back({port.name, port.dtype, port.shape, tensor.numel() == 0 ? &nothing : tensor.data_ptr()});
      tensors.push_back(tensor);
    }
  }

  std::unique_ptr<engine::Engine> engine_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  engine::Binding binding_;
  std::unique_ptr<engine::EngineModel> model_;
  std::size_t at_ = 0;
  bool prepared_ = false;
  std::optional<OutputProblem> problem_;
};

Result<NamedRunner> open_on(engine::Prefer prefer, const WrittenModel& written) {
  LEAPP_ASSIGN_OR_RETURN(auto engine, open_onnx_engine_of(prefer));
  std::vector<engine::TensorInfo> inputs;
  for (const bundle::Port& port : written.model->inputs) inputs.push_back({port.name, port.dtype, port.shape});
  auto model = engine->load({.name = written.file.filename().string(), .path = written.file, .inputs = inputs});
  if (!model.ok()) {
    // "Not found" says that there is nothing to validate with, and nothing else.
    const bool uncovered = model.status().code() == StatusCode::kUnimplemented;
    return uncovered ? model.status() : internal_error(model.status().message());
  }
  auto runner = runner_on({std::move(engine), std::move(model).value()}, *written.model);
  const bool own = prefer == engine::Prefer::kNative;
  return NamedRunner{std::move(runner), prefer, own ? "LEAPP's own engine" : "ONNX Runtime"};
}

}  // namespace

std::unique_ptr<ModelRunner> runner_on(LoadedModel loaded, const bundle::Model& ports) {
  return std::make_unique<EngineRunner>(std::move(loaded), ports);
}

Result<NamedRunner> open_onnx_runner(const WrittenModel& written, engine::Prefer prefer) {
  return open_on(prefer, written);
}

}  // namespace leapp::exporter
