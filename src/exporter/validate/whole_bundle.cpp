// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/whole_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "exporter/validate/interrupt.h"
#include "exporter/validate/trend.h"
#include "leapp/bundle/format.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline_access.h"

namespace leapp::exporter {
namespace {

/// A port of a recorded node.
struct PortAt {
  const RecordedNode* node = nullptr;
  std::size_t port = 0;
};

bool same_bytes(const graph::Constant& a, const graph::Constant& b) {
  return a.type == b.type && (a.byte_size() == 0 || std::memcmp(a.data.get(), b.data.get(), a.byte_size()) == 0);
}

graph::Constant constant_of(const TensorView& view) {
  // Not owned: it is looked at before the next step.
  return {{view.dtype, {view.shape.begin(), view.shape.end()}},
          std::shared_ptr<const void>(view.data, [](const void*) {})};
}

/// The recorded passes and the wiring between them.
class Recording {
 public:
  explicit Recording(const BundleReplay& replay) : replay_(replay) {
    for (std::size_t i = 0; i < replay.nodes.size(); ++i) {
      const bundle::Model& model = replay.spec->models[i];
      for (std::size_t p = 0; p < model.inputs.size(); ++p) {
        inputs_[model.name + "/" + model.inputs[p].name] = {&replay.nodes[i], p};
      }
      for (std::size_t p = 0; p < model.outputs.size(); ++p) {
        outputs_[model.name + "/" + model.outputs[p].name] = {&replay.nodes[i], p};
      }
    }
    find_random();
  }

  /// How many passes from the first on every node ran in; why not more goes to `notes`.
  std::size_t passes(std::vector<std::string>& notes) const {
    std::size_t fewest = replay_.nodes.empty() ? 0 : replay_.nodes[0].inputs.size();
    for (const RecordedNode& node : replay_.nodes) fewest = std::min(fewest, node.inputs.size());
    for (std::size_t pass = 0; pass < fewest; ++pass) {
      for (const RecordedNode& node : replay_.nodes) {
        if (node.passes.at(pass) == pass) continue;
        notes.push_back(
            fmt::format("node '{}' did not run in pass {}; a deployed pipeline runs every node in every "
                        "step, so the comparison ends there",
                        node.name, pass));
        return pass;
      }
    }
    return fewest;
  }

  [[nodiscard]] const std::optional<graph::Constant>& input(const std::string& name, std::size_t pass) const {
    const PortAt& at = inputs_.at(name);
    return at.node->inputs[pass][at.port];
  }
  [[nodiscard]] const std::optional<graph::Constant>& output(const std::string& name, std::size_t pass) const {
    const PortAt& at = outputs_.at(name);
    return at.node->outputs[pass][at.port];
  }
  [[nodiscard]] bool is_random(const std::string& output) const { return random_.contains(output); }

  /// An edge over which the program passed something else in this pass.
  [[nodiscard]] std::string broken_edge(std::size_t pass) const {
    for (const auto& [from, targets] : replay_.spec->pipeline.data_flow) {
      for (const std::string& to : targets) {
        const auto& given = output(from, pass);
        const auto& read = input(to, pass);
        if (given && read && !same_bytes(*given, *read)) return fmt::format("{} did not hold what {} gave", to, from);
      }
    }
    return "";
  }

  /// Feedback inputs that hold something else than the pass before left: the program set them.
  [[nodiscard]] std::vector<std::string> set_by_program(std::size_t pass) const {
    std::vector<std::string> found;
    for (const auto& [from, targets] : replay_.spec->pipeline.feedback_flow) {
      for (const std::string& to : targets) {
        const auto& left = output(from, pass - 1);
        const auto& read = input(to, pass);
        if (left && read && !same_bytes(*left, *read)) found.push_back(to);
      }
    }
    return found;
  }

 private:
  // What is computed from something random is random, now or in a later pass.
  void find_random() {
    for (const auto& [name, at] : outputs_) {
      if (at.node->random_outputs.contains(at.port)) random_.insert(name);
    }
    for (std::size_t before = random_.size() + 1; before != random_.size();) {
      before = random_.size();
      for (const bundle::EdgeMap* edges : {&replay_.spec->pipeline.data_flow, &replay_.spec->pipeline.feedback_flow}) {
        for (const auto& [from, targets] : *edges) {
          if (!random_.contains(from)) continue;
          for (const std::string& to : targets) taint(*inputs_.at(to).node);
        }
      }
    }
  }

  void taint(const RecordedNode& node) {
    for (const auto& [name, at] : outputs_) {
      if (at.node == &node) random_.insert(name);
    }
  }

  const BundleReplay& replay_;
  std::map<std::string, PortAt> inputs_;
  std::map<std::string, PortAt> outputs_;
  std::set<std::string> random_;
};

class BundleRun {
 public:
  BundleRun(const BundleReplay& replay, runtime::Pipeline pipeline, PipelineCheck& check)
      : replay_(replay), recording_(replay), pipeline_(std::move(pipeline)), check_(check) {
    for (const std::string& output : pipeline_.outputs()) add(output, "");
    for (const auto& [from, targets] : replay.spec->pipeline.feedback_flow) {
      const auto& outputs = pipeline_.outputs();
      if (std::find(outputs.begin(), outputs.end(), from) == outputs.end()) add(from, targets[0]);
    }
  }

  void run() {
    const std::size_t passes = recording_.passes(check_.notes);
    for (std::size_t pass = 0; pass < passes && !interrupted(); ++pass) {
      if (const std::string edge = recording_.broken_edge(pass); !edge.empty()) {
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
    if (recording_.is_random(output)) return;
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
      if (!write(pipeline_.input(name), recording_.input(name, pass))) return false;
    }
    if (pass == 0) return true;
    for (const std::string& name : recording_.set_by_program(pass)) {
      if (!write(pipeline_.feedback_input(name), recording_.input(name, pass))) return false;
      check_.notes.push_back(fmt::format("the program set {} itself before pass {}", name, pass));
    }
    return true;
  }

  void compare_pass(std::size_t pass) {
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      const Watched& one = watched_[i];
      const auto view = one.state.empty() ? pipeline_.output(one.output) : pipeline_.feedback_input(one.state);
      const auto& expected = recording_.output(one.output, pass);
      if (!view.ok() || !expected) continue;
      Drift& drift = check_.outputs[i];
      const auto slash = one.output.find('/');
      const ComparedSample sample{one.output.substr(0, slash), {one.output.substr(slash + 1)}, pass, replay_.tolerance};
      Comparison comparison = compare({constant_of(view.value())}, {expected}, sample);
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
  Recording recording_;
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
