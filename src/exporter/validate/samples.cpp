// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>

#include "capture/hook.h"
#include "capture/tensor_content.h"
#include "exporter/validate/interrupt.h"
#include "exporter/validate/runner.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

std::vector<at::Tensor> inputs_of(const PreparedNode& node, const capture::Sample& sample) {
  std::vector<at::Tensor> inputs;
  for (const std::size_t i : node.inputs) inputs.push_back(capture::tensor_of(sample.inputs[i]));
  return inputs;
}

std::vector<at::Tensor> outputs_of(const capture::Sample& sample) {
  std::vector<at::Tensor> outputs;
  for (const capture::ContentPtr& output : sample.outputs) outputs.push_back(capture::tensor_of(output));
  return outputs;
}

Values values_of(const std::vector<at::Tensor>& tensors) {
  Values values;
  for (const at::Tensor& tensor : tensors) {
    values.push_back(tensor.defined() ? to_constant(tensor.detach()) : std::nullopt);
  }
  return values;
}

ComparedSample compared(const NodeCheck& check, const PreparedNode& node, std::size_t number) {
  ComparedSample sample{check.node, check.outputs, number, {}};
  for (const std::size_t i : node.random_outputs) sample.outputs[i] = "";
  return sample;
}

NodeCheck check_of(const WrittenModel& written) {
  const PreparedNode& node = *written.node;
  NodeCheck check;
  check.node = node.record->name;
  check.backend = written.model->parameters.backend.value_or("");
  check.status = "passed";
  check.known_samples = node.record->samples.size();
  for (const capture::PortRecord& output : node.record->outputs) check.outputs.push_back(output.name);
  for (const std::size_t i : node.random_outputs) check.random_outputs.push_back(check.outputs[i]);
  check.max.assign(check.outputs.size(), std::numeric_limits<double>::quiet_NaN());
  check.given = node.backend.kind == BackendKind::kGiven;
  check.export_with = node.backend.name;
  return check;
}

void note_max(NodeCheck& check, const std::vector<double>& max) {
  for (std::size_t i = 0; i < std::min(max.size(), check.max.size()); ++i) {
    // Not `max`: what was not compared is no number, and stays so until something was.
    if (!(max[i] <= check.max[i])) check.max[i] = std::isnan(max[i]) ? check.max[i] : max[i];
  }
}

void errored(NodeCheck& check, std::string reason) {
  check.status = "errored";
  check.reason = std::move(reason);
}

void run_samples(const WrittenModel& written, ModelRunner& runner, const Tolerance& tolerance, NodeCheck& check,
                 Logger& log) {
  const PreparedNode& node = *written.node;
  for (std::size_t i = 0; i < node.record->samples.size() && !interrupted(); ++i) {
    const capture::Sample& sample = node.record->samples[i];
    auto outputs = runner.run(inputs_of(node, sample));
    if (!outputs.ok()) return errored(check, fmt::format("sample {}: {}", i, outputs.status().message()));
    ++check.samples;
    ComparedSample names = compared(check, node, i);
    names.tolerance = tolerance;
    Comparison comparison = compare(values_of(outputs.value()), values_of(outputs_of(sample)), names);
    for (const std::string& warning : comparison.warnings) log.warning(warning);
    for (const OutputProblem& problem : comparison.problems) log.info(problem.text);
    note_max(check, comparison.max);
    if (comparison.problems.empty()) ++check.agreeing;
    for (OutputProblem& problem : comparison.problems) check.problems.push_back(std::move(problem));
  }
  if (!check.problems.empty()) check.status = "failed";
}

Result<std::unique_ptr<ModelRunner>> open_runner(const std::string& backend, const WrittenModel& written) {
  if (backend == "jit") return open_torchscript_runner(written);
  if (backend == "onnx") return open_onnx_runner(written);
  if (backend == "pt2") return open_pt2_runner(written);
  return not_found(fmt::format("nothing here runs '{}' models", backend));
}

void check_file(const WrittenModel& written, const Tolerance& tolerance, NodeCheck& check, Logger& log) {
  auto runner = open_runner(check.backend, written);
  if (!runner.ok() && runner.status().code() == StatusCode::kNotFound) {
    check.status = "skipped";
    check.reason = runner.status().message();
    log.warning(fmt::format("{}: the exported model was not run: {}", check.node, check.reason));
    return;
  }
  if (!runner.ok()) return errored(check, runner.status().message());
  if (auto problem = runner.value()->signature_problem()) {
    problem->text = fmt::format("{}: {}", check.node, problem->brief);
    log.info(problem->text);
    check.status = "failed";
    check.problems.push_back(std::move(*problem));
    return;
  }
  run_samples(written, *runner.value(), tolerance, check, log);
}

}  // namespace

NodeCheck check_samples(const WrittenModel& written, const Tolerance& tolerance, Logger& log) {
  const auto start = std::chrono::steady_clock::now();
  NodeCheck check = check_of(written);
  try {
    const capture::Suppress quiet;
    check_file(written, tolerance, check, log);
  } catch (const std::exception& failure) {
    errored(check, reason_of(failure));
  }
  check.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return check;
}

Values recorded_inputs(const PreparedNode& node, std::size_t sample) {
  const capture::Suppress quiet;
  return values_of(inputs_of(node, node.record->samples[sample]));
}

Values recorded_outputs(const PreparedNode& node, std::size_t sample) {
  const capture::Suppress quiet;
  Values values = values_of(outputs_of(node.record->samples[sample]));
  for (const std::size_t i : node.random_outputs) values[i].reset();
  return values;
}

}  // namespace leapp::exporter
