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
  check.status = CheckStatus::kPassed;
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
  check.status = CheckStatus::kErrored;
  check.reason = std::move(reason);
}

/// What one engine makes of the samples.
struct EngineRun {
  std::size_t samples = 0;
  std::size_t agreeing = 0;
};

EngineRun run_samples(const WrittenModel& written, const NamedRunner& named, const NamedRunner& first,
                      const Tolerance& tolerance, NodeCheck& check, Logger& log) {
  const PreparedNode& node = *written.node;
  const std::string where = check.engines.size() > 1 ? " [" + named.name + "]" : "";
  EngineRun done;
  for (std::size_t i = 0; i < node.record->samples.size() && !interrupted(); ++i) {
    const capture::Sample& sample = node.record->samples[i];
    auto outputs = named.runner->run(inputs_of(node, sample));
    if (!outputs.ok()) {
      errored(check, fmt::format("sample {}: {}{}", i, outputs.status().message(), where));
      return done;
    }
    ++done.samples;
    ComparedSample names = compared(check, node, i);
    names.tolerance = tolerance;
    Comparison comparison = compare(values_of(outputs.value()), values_of(outputs_of(sample)), names);
    if (&named == &first) {
      for (const std::string& warning : comparison.warnings) log.warning(warning);
    }
    for (const OutputProblem& problem : comparison.problems) log.info(problem.text + where);
    note_max(check, comparison.max);
    if (comparison.problems.empty()) ++done.agreeing;
    for (OutputProblem& problem : comparison.problems) check.problems.push_back(std::move(problem));
  }
  return done;
}

/// One engine after the other; ends at the first on which a sample differs, which is told of then.
void run_on_all(const WrittenModel& written, const std::vector<NamedRunner>& runners, const Tolerance& tolerance,
                NodeCheck& check, Logger& log) {
  for (const NamedRunner& named : runners) {
    const EngineRun done = run_samples(written, named, runners.front(), tolerance, check, log);
    const bool first = &named == &runners.front();
    check.samples = done.samples;
    check.agreeing = done.agreeing;
    if (check.problems.empty() && check.status != CheckStatus::kErrored) continue;
    check.differing_engine = named.engine;
    // The first engine's numbers were right: it is this engine that is not.
    if (!first) check.only_on = named.name;
    break;
  }
  if (!check.problems.empty()) check.status = CheckStatus::kFailed;
}

Result<std::vector<NamedRunner>> open_runners(const WrittenModel& written) {
  const auto format = written.model->parameters.format();
  if (!format) return not_found("nothing here runs models of this backend");
  std::vector<NamedRunner> only(1);
  switch (*format) {
    case bundle::ModelFormat::kOnnx:
      return open_onnx_runners(written);
    case bundle::ModelFormat::kTorchScript: {
      LEAPP_ASSIGN_OR_RETURN(only[0].runner, open_torchscript_runner(written));
      break;
    }
    case bundle::ModelFormat::kPt2: {
      LEAPP_ASSIGN_OR_RETURN(only[0].runner, open_pt2_runner(written));
      break;
    }
  }
  return only;
}

void check_file(const WrittenModel& written, const Tolerance& tolerance, NodeCheck& check, Logger& log) {
  auto runners = open_runners(written);
  if (!runners.ok() && runners.status().code() == StatusCode::kNotFound) {
    check.status = CheckStatus::kSkipped;
    check.reason = runners.status().message();
    log.warning(fmt::format("{}: the exported model was not run: {}", check.node, check.reason));
    return;
  }
  if (!runners.ok()) return errored(check, runners.status().message());
  for (const NamedRunner& named : runners.value()) {
    if (!named.name.empty()) check.engines.push_back(named.name);
    auto problem = named.runner->signature_problem();
    if (!problem) continue;
    problem->text = fmt::format("{}: {}", check.node, problem->brief);
    log.info(problem->text);
    check.status = CheckStatus::kFailed;
    check.problems.push_back(std::move(*problem));
    return;
  }
  run_on_all(written, runners.value(), tolerance, check, log);
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
