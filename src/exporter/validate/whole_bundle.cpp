// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/whole_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "exporter/validate/interrupt.h"
#include "exporter/validate/numbers/pipeline_rounding.h"
#include "exporter/validate/numbers/trend.h"
#include "exporter/validate/recorded_passes.h"
#include "leapp/bundle/format.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_access.h"

namespace leapp::exporter {
namespace {

graph::Constant constant_of(const TensorView& view) {
  // Not owned: it is looked at before the next step.
  return {{view.dtype, {view.shape.begin(), view.shape.end()}},
          std::shared_ptr<const void>(view.data, [](const void*) {})};
}

class BundleRun {
 public:
  BundleRun(const BundleReplay& replay, runtime::Pipeline pipeline, PipelineCheck& check)
      : replay_(replay), passes_(replay), pipeline_(std::move(pipeline)), check_(check) {
    for (const std::string& output : pipeline_.outputs()) add(output, "");
    for (const auto& [from, targets] : replay.spec->pipeline.feedback_flow) {
      const auto& outputs = pipeline_.outputs();
      if (std::find(outputs.begin(), outputs.end(), from) == outputs.end()) add(from, targets[0]);
    }
  }

  void run() {
    const std::size_t passes = passes_.count(check_.notes);
    for (std::size_t pass = 0; pass < passes && !interrupted(); ++pass) {
      if (const std::string edge = passes_.broken_edge(pass); !edge.empty()) {
        check_.notes.push_back(fmt::format("pass {}: {}; the comparison ends there", pass, edge));
        break;
      }
      if (!prepare(pass)) return;
      if (pipeline_.step() != runtime::StepResult::kOk) return fail(pipeline_.error().message());
      ++check_.passes;
      compare_pass(pass);
    }
    finish();
  }

 private:
  struct Watched {
    std::string output;
    std::string state;  // the feedback input that has it after a step; empty: an output of the pipeline
  };

  void add(const std::string& output, const std::string& state) {
    if (passes_.is_random(output)) return;
    watched_.push_back({output, state});
    check_.outputs.push_back({.output = output, .state = !state.empty()});
  }

  void fail(const std::string& why) {
    check_.status = CheckStatus::kErrored;
    check_.reason = why;
  }

  bool write(const Result<TensorView>& view, const std::optional<graph::Constant>& value) {
    if (!view.ok()) {
      fail(view.status().message());
      return false;
    }
    if (value) std::memcpy(view.value().data, value->data.get(), value->byte_size());
    return true;
  }

  /// Gives the pass its inputs, and the states that the program set.
  bool prepare(std::size_t pass) {
    for (const std::string& name : pipeline_.inputs()) {
      if (!write(pipeline_.input(name), passes_.input(name, pass))) return false;
    }
    if (pass == 0) return true;
    for (const std::string& name : passes_.set_by_program(pass)) {
      if (!write(pipeline_.feedback_input(name), passes_.input(name, pass))) return false;
      check_.notes.push_back(fmt::format("the program set {} itself before pass {}", name, pass));
    }
    return true;
  }

  void compare_pass(std::size_t pass) {
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      const Watched& one = watched_[i];
      const auto view = one.state.empty() ? pipeline_.output(one.output) : pipeline_.feedback_input(one.state);
      const auto& expected = passes_.output(one.output, pass);
      if (!view.ok() || !expected) continue;
      Drift& drift = check_.outputs[i];
      const auto slash = one.output.find('/');
      PassJudge judge(rounding_, one.output, pass);
      const ComparedSample sample{
          one.output.substr(0, slash), {one.output.substr(slash + 1)}, pass, replay_.tolerance, &judge};
      Comparison comparison = compare({constant_of(view.value())}, {expected}, sample);
      for (std::string& note : comparison.notes) check_.notes.push_back(std::move(note));
      drift.max.push_back(comparison.max[0]);
      if (drift.max[drift.worst_pass] < drift.max.back()) drift.worst_pass = drift.max.size() - 1;
      if (!comparison.problems.empty() && !drift.problem) drift.problem = std::move(comparison.problems[0]);
    }
  }

  void finish() {
    if (check_.passes == 0) {
      check_.status = CheckStatus::kSkipped;
      check_.reason = check_.notes.empty() ? "no pass was recorded as a whole" : check_.notes.back();
      return;
    }
    check_.status = CheckStatus::kPassed;
    for (Drift& drift : check_.outputs) {
      drift.trend = trend_of(drift.max);
      if (drift.problem) check_.status = CheckStatus::kFailed;
    }
  }

  const BundleReplay& replay_;
  RecordedPasses passes_;
  PipelineRounding rounding_{replay_, passes_};
  runtime::Pipeline pipeline_;
  PipelineCheck& check_;
  std::vector<Watched> watched_;
};

std::string without_model(const bundle::BundleSpec& spec) {
  for (const bundle::Model& model : spec.models) {
    if (!model.parameters.model_path) return fmt::format("node '{}' has no model", model.name);
    const auto format = model.parameters.format();
    if (format && bundle::format_info(*format).needs_python) {
      return fmt::format("node '{}' is a '{}' model, which LEAPP's C++ runtime does not run", model.name,
                         bundle::format_info(*format).name);
    }
  }
  return "";
}

void run_bundle(const BundleReplay& replay, PipelineCheck& check) {
  runtime::LoadOptions options;
  options.memory_limit = std::numeric_limits<std::uint64_t>::max();  // no stranger's: it was just written
  options.allow_outside = true;
  options.verify_checksums = replay.verify_checksums;
  auto pipeline = runtime::PipelineAccess::load(replay.yaml, options, replay.open);
  if (!pipeline.ok()) {
    check.status = pipeline.status().code() == StatusCode::kNotFound ? CheckStatus::kSkipped : CheckStatus::kErrored;
    check.reason = pipeline.status().message();
    return;
  }
  BundleRun(replay, std::move(pipeline).value(), check).run();
}

}  // namespace

PipelineCheck check_bundle(const BundleReplay& replay) {
  const auto start = std::chrono::steady_clock::now();
  PipelineCheck check;
  check.reason = without_model(*replay.spec);
  if (!check.reason.empty()) check.status = CheckStatus::kSkipped;
  if (check.reason.empty()) run_bundle(replay, check);
  check.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return check;
}

}  // namespace leapp::exporter
