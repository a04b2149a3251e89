// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <utility>

#include "engine/ort/ort_engine.h"
#include "exporter/validate_runner.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

// The package `onnxruntime` of the environment that torch is in: <site-packages>/torch/lib/libtorch_cpu.so is beside
// it.
std::string package_beside_torch() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) == 0 || info.dli_fname == nullptr) return "";
  const auto site_packages = std::filesystem::path(info.dli_fname).parent_path().parent_path().parent_path();
  const auto package = site_packages / "onnxruntime";
  std::error_code error;
  return std::filesystem::is_directory(package, error) ? package.string() : "";
}

/// Runs on tensors of its own, which the engine is bound to.
class OnnxRunner final : public ModelRunner {
 public:
  OnnxRunner(std::unique_ptr<engine::Engine> engine, std::unique_ptr<engine::Model> model)
      : engine_(std::move(engine)), model_(std::move(model)) {}

  Status allocate(const bundle::Model& ports) {
    LEAPP_RETURN_IF_ERROR(allocate(ports.inputs, inputs_, binding_.inputs));
    return allocate(ports.outputs, outputs_, binding_.outputs);
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
    std::vector<at::Tensor> outputs;
    for (const at::Tensor& output : outputs_) outputs.push_back(output.clone());
    return outputs;
  }

 private:
  static Status allocate(const std::vector<bundle::Port>& ports, std::vector<at::Tensor>& tensors,
                         std::vector<engine::Buffer>& buffers) {
    for (const bundle::Port& port : ports) {
      const at::Tensor tensor = at::empty(port.shape, to_scalar_type(port.dtype));
      // An empty tensor has no memory; the engine wants an address all the same.
      alignas(64) static std::byte nothing{};
      buffers.push_back({port.name, port.dtype, port.shape, tensor.numel() == 0 ? &nothing : tensor.data_ptr()});
      tensors.push_back(tensor);
    }
    return {};
  }

  std::unique_ptr<engine::Engine> engine_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  engine::Binding binding_;
  std::unique_ptr<engine::Model> model_;
  std::size_t at_ = 0;
  bool prepared_ = false;
};

}  // namespace

Result<std::unique_ptr<ModelRunner>> open_onnx_runner(const WrittenModel& written) {
  engine::Options options;
  options.onnxruntime_package = package_beside_torch();
  options.provider = engine::Provider::kCpu;
  LEAPP_ASSIGN_OR_RETURN(auto engine, engine::open_onnxruntime(options));
  auto model = engine->load({.name = written.file.filename().string(), .path = written.file});
  // "Not found" says that there is nothing to validate with, and nothing else.
  if (!model.ok()) return internal_error(model.status().message());
  auto runner = std::make_unique<OnnxRunner>(std::move(engine), std::move(model).value());
  LEAPP_RETURN_IF_ERROR(runner->allocate(*written.model));
  return std::unique_ptr<ModelRunner>(std::move(runner));
}

}  // namespace leapp::exporter
