// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/given_inputs.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>

#include "exporter/pytorch_exporters.h"
#include "onnx_proto/reader.h"
#include "torch_types/failure.h"

namespace leapp::exporter {
namespace {

Result<std::vector<ModelInput>> inputs_of_torchscript(const std::string& path) {
  try {
    const torch::jit::Module model = torch::jit::load(path);
    std::vector<ModelInput> inputs;
    for (const c10::Argument& argument : model.get_method("forward").function().getSchema().arguments()) {
      inputs.push_back({argument.name(), argument.default_value().has_value()});
    }
    if (!inputs.empty()) inputs.erase(inputs.begin());  // the module itself
    return inputs;
  } catch (const std::exception& failure) {
    return failure_status(
        failure, [&] { return std::string(failure.what()); }, StatusCode::kDataLoss);
  }
}

Result<std::vector<ModelInput>> inputs_of_onnx(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView model, onnx::read_model(std::as_bytes(std::span(bytes))));
  std::vector<ModelInput> inputs;
  for (const onnx::ValueInfoView& input : model.graph.inputs) {
    const auto& weights = model.graph.initializers;
    const bool has_default =
        std::any_of(weights.begin(), weights.end(), [&](const auto& one) { return one.name == input.name; });
    inputs.push_back({std::string(input.name), has_default});
  }
  return inputs;
}

std::optional<std::vector<std::size_t>> by_name(const std::vector<ModelInput>& model,
                                                const std::vector<capture::PortRecord>& announced) {
  std::vector<std::size_t> found;
  for (const ModelInput& input : model) {
    const auto port = std::find_if(announced.begin(), announced.end(), [&](const capture::PortRecord& one) {
      return one.name == input.name || one.name + "_in" == input.name;  // state, as our own ONNX models call it
    });
    if (port == announced.end() && input.optional) continue;
    if (port == announced.end()) return std::nullopt;
    found.push_back(static_cast<std::size_t>(port - announced.begin()));
  }
  return found;
}

}  // namespace

Result<std::vector<ModelInput>> inputs_of_model(const Backend& backend) {
  const std::string path = backend.model_path.string();
  switch (backend.format.value()) {
    case bundle::ModelFormat::kTorchScript:
      return inputs_of_torchscript(path);
    case bundle::ModelFormat::kOnnx:
      return inputs_of_onnx(path);
    case bundle::ModelFormat::kPt2:
      break;
  }
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::string> names, inputs_of_pt2(path));
  std::vector<ModelInput> inputs;
  for (const std::string& name : names) inputs.push_back({name});
  return inputs;
}

std::vector<std::size_t> inputs_for_model(const std::vector<ModelInput>& model,
                                          const std::vector<capture::PortRecord>& announced,
                                          const std::vector<std::size_t>& reaching) {
  if (auto named = by_name(model, announced)) return *named;
  const auto required = static_cast<std::size_t>(
      std::count_if(model.begin(), model.end(), [](const ModelInput& input) { return !input.optional; }));
  const auto fits = [&](std::size_t count) { return count >= required && count <= model.size(); };
  if (fits(announced.size())) {
    std::vector<std::size_t> all(announced.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  return fits(reaching.size()) ? reaching : std::vector<std::size_t>();
}

}  // namespace leapp::exporter
