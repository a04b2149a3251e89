// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "capture/hook/unrecorded.h"
#include "capture/recorder/tensor_content.h"
#include "emit/torchscript/evaluator.h"
#include "exporter/validate/interrupt.h"
#include "exporter/validate/numbers/judge.h"
#include "exporter/validate/runners/runner.h"
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
  ComparedSample sample{check.node, check.outputs, number};
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

/// Who tells what rounding can do in each sample. All of them together may take a minute.
class Judges {
 public:
  explicit Judges(const PreparedNode& node) : node_(node), of_(node.record->samples.size()) {}

  /// nullptr for a model whose graph is not known.
  RoundingJudge* of(std::size_t sample) {
    if (node_.graph.outputs().empty()) return nullptr;
    if (!of_[sample]) {
      of_[sample] =
          std::make_unique<SampleJudge>(node_.graph, values_of(inputs_of(node_, node_.record->samples[sample])),
                                        Evaluators{emit::evaluate, emit::evaluate_wide}, deadline_);
    }
    return of_[sample].get();
  }

 private:
  const PreparedNode& node_;
  std::vector<std::unique_ptr<SampleJudge>> of_;
  RoundingDeadline deadline_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

/// How a model is compared with the samples.
struct HowCompared {
  const std::optional<Tolerance>& tolerance;
  Judges judges;
};

/// What one engine makes of the samples.
struct EngineRun {
  std::size_t samples = 0;
  std::size_t agreeing = 0;
};

EngineRun run_samples(const WrittenModel& written, const NamedRunner& named, HowCompared& how, NodeCheck& check,
                      Logger& log) {
  const PreparedNode& node = *written.node;
  const std::string where = named.name.empty() ? "" : " [" + named.name + "]";
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
    names.tolerance = how.tolerance;
    names.judge = how.judges.of(i);
    Comparison comparison = compare(values_of(outputs.value()), values_of(outputs_of(sample)), names);
    if (check.engines.empty() || named.name == check.engines[0]) {
      for (const std::string& warning : comparison.warnings) log.warning(warning);
    }
    for (const OutputProblem& problem : comparison.problems) log.info(problem.text + where);
    for (const std::string& note : comparison.notes) check.notes.push_back(note + where);
    note_max(check, comparison.max);
    if (comparison.problems.empty()) ++done.agreeing;
    for (OutputProblem& problem : comparison.problems) check.problems.push_back(std::move(problem));
  }
  return done;
}

/// What a file is checked on, one engine after the other: two may have copies of the weights each.
class FileCheck {
 public:
  FileCheck(const WrittenModel& written, const std::optional<Tolerance>& tolerance, NodeCheck& check, Logger& log)
      : written_(written), how_{tolerance, Judges(*written.node)}, check_(check), log_(log) {}

  void run() {
    const auto format = written_.model->parameters.format();
    if (!format) return skip("nothing here runs models of this backend");
    switch (*format) {
      case bundle::ModelFormat::kOnnx:
        return run_onnx();
      case bundle::ModelFormat::kTorchScript:
        return run_only(open_torchscript_runner(written_));
      case bundle::ModelFormat::kPt2:
        return run_only(open_pt2_runner(written_));
    }
  }

 private:
  void skip(const std::string& why) {
    check_.status = CheckStatus::kSkipped;
    check_.reason = why;
    log_.warning(fmt::format("{}: the exported model was not run: {}", check_.node, why));
  }

  void run_only(Result<std::unique_ptr<ModelRunner>> runner) {
    if (!runner.ok() && runner.status().code() == StatusCode::kNotFound) return skip(runner.status().message());
    if (!runner.ok()) return errored(check_, runner.status().message());
    run_on({.runner = std::move(runner).value()});
  }

  /// Ends at the first engine on which a sample differs, which is told of then.
  void run_onnx() {
    auto other = open_onnx_runner(written_, engine::Prefer::kOnnxRuntime);
    const Status opened = other.ok() ? Status() : other.status();
    const bool missing = opened.code() == StatusCode::kNotFound;
    if (!opened.ok() && !missing) return errored(check_, opened.message());
    if (opened.ok() && !run_on(std::move(other).value())) return;
    auto own = open_onnx_runner(written_, engine::Prefer::kNative);
    if (own.ok()) {
      run_on(std::move(own).value());
    } else if (missing) {
      const bool uncovered = own.status().code() == StatusCode::kUnimplemented;
      uncovered ? skip(opened.message()) : errored(check_, own.status().message());
    }
  }

  /// False: that is enough.
  bool run_on(NamedRunner named) {
    const bool first = check_.engines.empty();
    if (!named.name.empty()) check_.engines.push_back(named.name);
    if (auto problem = named.runner->signature_problem()) {
      problem->text = fmt::format("{}: {}", check_.node, problem->brief);
      log_.info(problem->text);
      check_.status = CheckStatus::kFailed;
      check_.problems.push_back(std::move(*problem));
      return false;
    }
    const EngineRun done = run_samples(written_, named, how_, check_, log_);
    check_.samples = done.samples;
    check_.agreeing = done.agreeing;
    if (check_.problems.empty() && check_.status != CheckStatus::kErrored) return true;
    check_.differing_engine = named.engine;
    // The first engine's numbers were right: it is this engine that is not.
    if (!first) check_.only_on = named.name;
    if (!check_.problems.empty()) check_.status = CheckStatus::kFailed;
    return false;
  }

  const WrittenModel& written_;
  HowCompared how_;
  NodeCheck& check_;
  Logger& log_;
};

}  // namespace

NodeCheck check_samples(const WrittenModel& written, const std::optional<Tolerance>& tolerance, Logger& log) {
  const auto start = std::chrono::steady_clock::now();
  NodeCheck check = check_of(written);
  try {
    const capture::Suppress quiet;
    FileCheck(written, tolerance, check, log).run();
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the model's
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
