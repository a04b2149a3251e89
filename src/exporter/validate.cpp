// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "capture/hook.h"
#include "exporter/validate_runner.h"

namespace leapp::exporter {
namespace {

NodeResult result_of(const PreparedNode& node, const char* status, std::string message) {
  return {node.record->name, status, 0, static_cast<int>(node.record->outputs.size()), std::move(message)};
}

std::vector<at::Tensor> inputs_of(const PreparedNode& node, const capture::Sample& sample) {
  std::vector<at::Tensor> inputs;
  for (const std::size_t i : node.inputs) inputs.push_back(sample.inputs[i]);
  return inputs;
}

ComparedSample compared(const WrittenModel& written, std::size_t number, const Tolerance& tolerance) {
  ComparedSample sample{written.node->record->name, {}, number, tolerance};
  for (std::size_t i = 0; i < written.node->record->outputs.size(); ++i) {
    const bool random = written.node->random_outputs.contains(i);
    sample.outputs.push_back(random ? "" : written.node->record->outputs[i].name);
  }
  return sample;
}

NodeResult run_samples(const WrittenModel& written, ModelRunner& runner, const Tolerance& tolerance, Logger& log) {
  const PreparedNode& node = *written.node;
  NodeResult result = result_of(node, "passed", "");
  for (std::size_t i = 0; i < node.record->samples.size(); ++i) {
    const capture::Sample& sample = node.record->samples[i];
    auto outputs = runner.run(inputs_of(node, sample));
    if (!outputs.ok()) {
      result.status = "errored";
      result.message = fmt::format("sample {}: {}", i, outputs.status().message());
      return result;
    }
    const Comparison comparison = compare(outputs.value(), sample.outputs, compared(written, i, tolerance));
    for (const std::string& warning : comparison.warnings) log.warning(warning);
    if (!comparison.problem.empty()) {
      result.status = "failed";
      result.message = comparison.problem;
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
  return result;
}

NodeResult skipped(const PreparedNode& node, const std::string& why, Logger& log) {
  log.warning(fmt::format("{}: the exported model was not run: {}", node.record->name, why));
  return result_of(node, "skipped", why);
}

Result<std::unique_ptr<ModelRunner>> open_runner(const std::string& backend, const WrittenModel& written) {
  if (backend == "jit") return open_torchscript_runner(written);
  if (backend == "onnx") return open_onnx_runner(written);
  if (backend == "pt2") return open_pt2_runner(written);
  return not_found(fmt::format("nothing here runs '{}' models", backend));
}

NodeResult validate_checked(const WrittenModel& written, const Tolerance& tolerance, Logger& log) {
  const std::string backend = written.model->parameters.backend.value_or("");
  auto runner = open_runner(backend, written);
  if (!runner.ok() && runner.status().code() == StatusCode::kNotFound) {
    return skipped(*written.node, runner.status().message(), log);
  }
  if (!runner.ok()) return result_of(*written.node, "errored", runner.status().message());
  return run_samples(written, *runner.value(), tolerance, log);
}

}  // namespace

NodeResult validate_model(const WrittenModel& written, const Tolerance& tolerance, Logger& log) {
  try {
    const capture::Suppress quiet;
    return validate_checked(written, tolerance, log);
  } catch (const std::exception& failure) {
    return result_of(*written.node, "errored", failure.what());
  }
}

}  // namespace leapp::exporter
