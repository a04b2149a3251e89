// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include "capture/hook.h"
#include "capture/trace.h"

namespace leapp::exporter {
namespace {

std::vector<at::Tensor> run(torch::jit::Module& model, const PreparedNode& node, const capture::Sample& sample) {
  std::vector<c10::IValue> inputs;
  for (const std::size_t i : node.inputs) inputs.emplace_back(sample.inputs[i].clone());
  const c10::IValue result = model.forward(std::move(inputs));
  if (result.isTensor()) return {result.toTensor()};
  std::vector<at::Tensor> outputs;
  for (const c10::IValue& item : result.toTupleRef().elements()) outputs.push_back(item.toTensor());
  return outputs;
}

// Empty when they agree.
std::string difference(const at::Tensor& found, const at::Tensor& expected, const Tolerance& tolerance) {
  if (found.scalar_type() != expected.scalar_type() || found.sizes() != expected.sizes()) {
    return fmt::format("expected {}, found {}", capture::describe(expected), capture::describe(found));
  }
  if (expected.numel() == 0) return "";
  const at::Tensor a = found.to(at::kDouble);
  const at::Tensor b = expected.to(at::kDouble);
  const auto nans = [](const at::Tensor& tensor) { return tensor.isnan().sum().item<std::int64_t>(); };
  const std::int64_t in_exported = nans(a);
  const std::int64_t in_source = nans(b);
  if (in_exported + in_source > 0) {
    return fmt::format("NaN: {} of {} elements in the exported output, {} in the source", in_exported, a.numel(),
                       in_source);
  }
  const at::Tensor close = at::isclose(a, b, tolerance.rtol, tolerance.atol);
  if (close.all().item<bool>()) return "";
  const at::Tensor apart = at::sub(a, b).abs().masked_select(close.logical_not());
  return fmt::format(
      "{} of {} elements differ by more than rtol {} and atol {}: max |diff| {}, range of the source "
      "[{}, {}], of the exported output [{}, {}]",
      apart.numel(), a.numel(), tolerance.rtol, tolerance.atol, apart.max().item<double>(), b.min().item<double>(),
      b.max().item<double>(), a.min().item<double>(), a.max().item<double>());
}

std::string compare(const std::vector<at::Tensor>& found, const PreparedNode& node, std::size_t at,
                    const Tolerance& tolerance) {
  const capture::Sample& sample = node.record->samples[at];
  if (found.size() != sample.outputs.size()) {
    return fmt::format("sample {}: expected {} outputs, found {}", at, sample.outputs.size(), found.size());
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (node.random_outputs.contains(i)) continue;
    const std::string text = difference(found[i], sample.outputs[i], tolerance);
    if (!text.empty()) {
      return fmt::format("{}/{}, sample {}: {}", node.record->name, node.record->outputs[i].name, at, text);
    }
  }
  return "";
}

}  // namespace

NodeResult validate_torchscript(const PreparedNode& node, const std::filesystem::path& file,
                                const Tolerance& tolerance) {
  NodeResult result{node.record->name, "passed", 0, static_cast<int>(node.record->outputs.size()), ""};
  try {
    const capture::Suppress quiet;
    torch::jit::Module model = torch::jit::load(file.string());
    model.eval();
    // A model runs a few times only: not worth specialising it.
    const torch::jit::GraphOptimizerEnabledGuard no_optimisation(false);
    for (std::size_t i = 0; i < node.record->samples.size(); ++i) {
      const std::string problem = compare(run(model, node, node.record->samples[i]), node, i, tolerance);
      if (!problem.empty()) {
        result.status = "failed";
        result.message = problem;
        if (i > 0) {
          result.message += ". Earlier samples agree: something that changes from call to call is baked into the model";
        }
        return result;
      }
      ++result.samples;
    }
    if (!node.random_outputs.empty()) {
      result.message = fmt::format("{} of {} outputs depend on random operators and were not compared",
                                   node.random_outputs.size(), node.record->outputs.size());
    }
  } catch (const std::exception& failure) {
    result.status = "errored";
    result.message = failure.what();
  }
  return result;
}

}  // namespace leapp::exporter
