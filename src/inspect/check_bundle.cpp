// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/check_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "inspect/lint.h"
#include "inspect/numbers.h"
#include "inspect/words.h"
#include "leapp/runtime/pipeline.h"
#include "onnx_proto/external_data.h"
#include "onnx_proto/limits.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/engines.h"
#include "runtime/pipeline/mock.h"
#include "runtime/pipeline/plan.h"
#include "runtime/pipeline/state.h"

namespace leapp::inspect {
namespace {

constexpr int kTrialSteps = 2;

bool all_zero(const TensorView& value) {
  const auto* element = static_cast<const std::byte*>(value.data);
  for (std::size_t i = 0; i < value.size(); ++i, element += dtype_size(value.dtype)) {
    if (to_double(value.dtype, element) != 0) return false;
  }
  return value.size() > 0;
}

class Checker {
 public:
  Checker(const OpenedBundle& opened, const CheckOptions& options)
      : opened_(opened),
        options_(options),
        files_{.allow_outside = options.load.allow_outside,
               .verify_checksums = options.load.verify_checksums,
               .memory_limit = runtime::memory_limit_of(options.load.memory_limit)} {}

  CheckReport run() {
    for (const Status& problem : opened_.report.problems) {
      add(Severity::kError, problem, "correct the wiring, or export the bundle again");
    }
    for (const Status& problem : bundle::find_model_problems(opened_.spec)) {
      add(Severity::kError, problem, "export the node with a backend: export_with=\"onnx\"");
    }
    std::size_t done = 0;
    for (const bundle::Model& model : opened_.spec.models) {
      if (options_.progress) options_.progress(done++);
      check_files(model);
    }
    if (opened_.report.problems.empty()) {
      initial_values();
      append(lint(opened_));
      if (options_.target == "isaac-ros") append(check_for_isaac_ros(opened_));
      if (!broken_) load();
    }
    sort_by_severity(findings_);
    return {.findings = std::move(findings_), .loaded = loaded_, .engines = std::move(comparison_)};
  }

 private:
  void append(std::vector<CheckFinding> more) {
    findings_.insert(findings_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  // Our messages begin with their place.
  void add(Severity severity, const Status& status, std::string remedy) {
    broken_ = broken_ || severity == Severity::kError;
    std::string message = in_option_words(status.message());
    const std::string file = opened_.yaml.string() + ": ";
    if (message.starts_with(file)) message.erase(0, file.size());
    const std::size_t colon = message.find(": ");
    const bool has_place = colon != std::string::npos && message.find(' ') > colon;
    findings_.push_back({severity, has_place ? message.substr(0, colon) : opened_.yaml.filename().string(),
                         has_place ? message.substr(colon + 2) : message, std::move(remedy)});
  }

  void check_files(const bundle::Model& model) {
    if (!model.parameters.model_path) return;
    const auto [first, fresh] = looked_at_.try_emplace(file_key(model), model.name, false);
    if (!fresh) {  // once is enough, however many nodes have it
      if (first->second.second) {
        add(Severity::kError,
            data_loss(fmt::format("models.{}: something is wrong with its file, which models.{} has too", model.name,
                                  first->second.first)),
            "");
      } else {
        note_checksums(model);
      }
      return;
    }
    const bool broken_before = std::exchange(broken_, false);
    read_file(model);
    first->second.second = broken_;
    broken_ = broken_ || broken_before;
  }

  void note_checksums(const bundle::Model& model) {
    if (!model.parameters.md5sum && !model.parameters.sha256sum) {
      findings_.push_back({Severity::kNote, "models." + model.name, "no checksum: a changed model would not be noticed",
                           "export the bundle again"});
    }
  }

  void read_file(const bundle::Model& model) {
    const auto file = bundle::read_model(opened_.folder, model, files_);
    if (!file.ok()) {
      const bool changed = file.status().code() == StatusCode::kDataLoss;
      add(Severity::kError, file.status(),
          changed ? "get the file again from where the bundle was exported; --no-checksums runs it as it is"
          : file.status().message().find("memory_limit") != std::string::npos
              ? "--memory-limit allows more"
              : "put the file where the bundle says it is");
      return;
    }
    note_checksums(model);
    if (model.parameters.format() == bundle::ModelFormat::kOnnx) check_external_data(model, file.value());
  }

  void check_external_data(const bundle::Model& model, const bundle::ModelFile& file) {
    const std::string place = fmt::format("models.{}: ", model.name);
    const auto names = onnx::external_data_files(file.bytes);
    if (!names.ok()) {
      add(Severity::kError, Status(names.status().code(), place + names.status().message()), "export the bundle again");
      return;
    }
    const std::uint64_t limit = runtime::memory_limit_of(options_.load.memory_limit);
    if (const Status found = onnx::check_limits(file.bytes, {.tensor_bytes = limit}); !found.ok()) {
      add(Severity::kError, Status(found.code(), place + found.message()), "do not run it");
    }
    for (const std::string& name : names.value()) {
      const auto path = bundle::locate_file(opened_.folder, (file.path.parent_path() / name).string(), files_);
      if (path.ok()) continue;
      add(Severity::kError, Status(path.status().code(), place + "external data: " + path.status().message()),
          "put the file beside the model");
    }
  }

  void initial_values() {
    const auto values = runtime::read_initial_values(opened_.folder, opened_.spec,
                                                     runtime::make_plan(opened_.spec, opened_.report.wiring), files_);
    if (!values.ok()) add(Severity::kError, values.status(), "export the bundle again");
    if (!opened_.spec.pipeline.initial_values && !opened_.spec.pipeline.feedback_flow.empty()) {
      findings_.push_back(
          {Severity::kNote, "pipeline.initial_values", "there is none, so the state starts from zeros", ""});
    }
  }

  // What cannot be run here may run elsewhere: no error.
  bool engines_are_there() {
    std::set<std::string> backends;
    for (const bundle::Model& model : opened_.spec.models) backends.insert(model.parameters.backend.value_or(""));
    for (const std::string& backend : backends) {
      const auto engine = runtime::open_engine(backend, options_.load.engine);
      if (engine.ok()) continue;
      note_missing(backend, engine.status());
      return false;
    }
    return true;
  }

  void load() {
    if (options_.no_load || !engines_are_there()) return;
    auto pipeline = runtime::Pipeline::load(opened_.yaml, options_.load);
    if (!pipeline.ok()) {
      // All files are there, or it would not have come to this: what is not found is ONNX Runtime.
      const bool missing = pipeline.status().code() == StatusCode::kNotFound;
      if (missing) return note_missing("onnx", pipeline.status());
      add(Severity::kError, pipeline.status(), "export the bundle again");
      return;
    }
    loaded_ = true;
    try_steps(pipeline.value());
    if (options_.load.engine.prefer == engine::Prefer::kAuto) compare();
  }

  void note_missing(const std::string& backend, const Status& why) {
    findings_.push_back({Severity::kNote, fmt::format("backend {}", backend),
                         "the models were not loaded, so their ports and gains were not looked at: " +
                             in_option_words(one_line(why.message())),
                         ""});
  }

  void compare() {
    if (options_.heartbeat) options_.heartbeat(false);
    comparison_ = compare_engines(opened_, options_.load);
    if (comparison_.port.empty()) return;
    findings_.push_back({Severity::kWarning, comparison_.port,
                         "LEAPP's own engine and ONNX Runtime differ: " + comparison_.difference,
                         "the recorded samples say which is right: compile_graph validates on both; "
                         "--engine runs one of them"});
  }

  void try_steps(runtime::Pipeline& pipeline) {
    std::set<std::string> always_zero;
    for (const bundle::PortIndex at : opened_.report.wiring.outputs) {
      if (is_gain(opened_.spec.models[at.node].outputs[at.port])) always_zero.insert(output_name(opened_.spec, at));
    }
    std::vector<std::pair<runtime::MockSource, TensorView>> inputs;
    for (const std::string& name : pipeline.inputs()) {
      inputs.emplace_back(runtime::MockSource(0, name), pipeline.input(name).value());
    }
    for (int step = 0; step < kTrialSteps; ++step) {
      for (auto& [source, view] : inputs) source.fill(view);
      if (options_.heartbeat) options_.heartbeat(true);
      if (pipeline.step() != runtime::StepResult::kOk) {
        findings_.push_back({Severity::kWarning, opened_.yaml.filename().string(),
                             "a step with made-up inputs failed: " + pipeline.error().message(),
                             "leapp run --inputs with real data shows whether that is the data's fault"});
        return;
      }
      std::erase_if(always_zero, [&](const std::string& name) { return !all_zero(pipeline.output(name).value()); });
    }
    for (const std::string& name : always_zero) {
      findings_.push_back({Severity::kWarning, name, "all gains are zero: the joints would not be held",
                           "export the gains that the policy was trained with"});
    }
  }

  const OpenedBundle& opened_;
  const CheckOptions& options_;
  bundle::FileOptions files_;
  std::vector<CheckFinding> findings_;
  std::map<std::string, std::pair<std::string, bool>> looked_at_;  ///< files: who had it first, whether it is broken
  bool broken_ = false;
  bool loaded_ = false;
  EngineComparison comparison_;
};

}  // namespace

CheckReport check_bundle(const OpenedBundle& opened, const CheckOptions& options) {
  return Checker(opened, options).run();
}

}  // namespace leapp::inspect
