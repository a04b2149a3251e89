// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <utility>

#include "bundle/folder/file_system.h"
#include "capture/hook/unrecorded.h"
#include "emit/torchscript/evaluator.h"
#include "exporter/validate/interrupt.h"
#include "exporter/validate/report/console.h"
#include "exporter/validate/report/finding_text.h"
#include "exporter/validate/report/findings.h"
#include "exporter/validate/report/suspects.h"
#include "exporter/validate/runners/engines.h"
#include "exporter/validate/runners/intermediates.h"
#include "exporter/validate/runners/runner.h"
#include "exporter/validate/samples.h"
#include "exporter/validate/whole_bundle.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

class Validator {
 public:
  explicit Validator(const ValidationRequest& request)
      : request_(request), log_(*request.recording->log), folder_(request.recording->folder) {
    result_.name = request.recording->name;
    result_.tolerance = request.tolerance;
  }

  Validation run() {
    const auto& models = request_.spec->models;
    for (std::size_t i = 0; i < models.size(); ++i) {
      NodeCheck check = check_node(models[i]);
      const bool fine = check.status == CheckStatus::kPassed || check.status == CheckStatus::kSkipped;
      const std::string line = node_line(check, i + 1, models.size());
      fine ? log_.info(line) : log_.error(line);
      result_.nodes.push_back(std::move(check));
    }
    check_pipeline();
    result_.findings = join_findings(result_, find_suspects(*request_.nodes, *request_.recording));
    show();
    return std::move(result_);
  }

 private:
  NodeCheck check_node(const bundle::Model& model) {
    const PreparedNode& node = named(*request_.nodes, model.name);
    if (!model.parameters.model_path || interrupted()) return without_model(model, node);
    const WrittenModel written{&node, &model, folder_ / *model.parameters.model_path};
    NodeCheck check = check_samples(written, request_.tolerance, log_);
    if (!check.problems.empty() && !interrupted()) check.bisection = search(written, check);
    return check;
  }

  [[nodiscard]] NodeCheck without_model(const bundle::Model& model, const PreparedNode& node) const {
    const auto& non_traced = request_.recording->options.non_traced;
    const bool excepted = std::find(non_traced.begin(), non_traced.end(), model.name) != non_traced.end();
    NodeCheck check;
    check.node = model.name;
    check.status = CheckStatus::kSkipped;
    check.known_samples = node.record->samples.size();
    for (const bundle::Port& output : model.outputs) check.outputs.push_back(output.name);
    check.reason = model.parameters.model_path ? "interrupted"
                   : request_.dry_run          ? "a dry run writes no models"
                   : excepted                  ? "the node has no model: non_traced names it"
                                               : "the node has no model";
    return check;
  }

  std::optional<Bisection> search(const WrittenModel& written, const NodeCheck& check) {
    const OutputProblem& first = check.problems[0];
    if (first.is_other_signature()) return std::nullopt;
    Bisection result;
    try {
      const capture::Suppress quiet;
      auto intermediates = open(written, check);
      if (!intermediates.ok()) {
        result.note = intermediates.status().message();
        return result;
      }
      BisectRequest request{.graph = &written.node->graph,
                            .inputs = recorded_inputs(*written.node, first.sample),
                            .recorded = recorded_outputs(*written.node, first.sample),
                            .tolerance = request_.tolerance,
                            .nan_is_wrong = first.kind == ProblemKind::kNan && first.difference.expected.nans > 0,
                            .progress = [&](const std::string& text) {
                              log_.info(fmt::format("{}: looking for the operator that differs: {}", check.node, text));
                            }};
      return bisect(request, *intermediates.value(), {emit::evaluate, emit::evaluate_wide});
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& failure) {
      result.note = failure.what();
      return result;
    }
  }

  static Result<std::unique_ptr<Intermediates>> open(const WrittenModel& written, const NodeCheck& check) {
    const PreparedNode& node = *written.node;
    const EmittedModel model{&node.graph,
                             written.file,
                             node.input_names,
                             node.output_names,
                             static_cast<int>(node.backend.opset_version),
                             recorded_inputs(node, check.problems[0].sample),
                             check.differing_engine};
    switch (node.backend.kind) {
      case BackendKind::kTorchScript:
        return torchscript_intermediates(model);
      case BackendKind::kOnnx:
        return onnx_intermediates(model);
      case BackendKind::kGiven:
        return unimplemented("the model is not LEAPP's: its values have no names that are known here");
      case BackendKind::kPytorch:
      case BackendKind::kNone:
        break;
    }
    return unimplemented("the model was made by PyTorch's exporter, which keeps no names");
  }

  void check_pipeline() {
    const bool broken = std::any_of(result_.nodes.begin(), result_.nodes.end(),
                                    [](const NodeCheck& node) { return node.status == CheckStatus::kErrored; });
    if (broken || interrupted()) {
      result_.pipeline.status = CheckStatus::kSkipped;
      result_.pipeline.reason = broken ? "a node errored" : "interrupted";
    } else {
      try {
        const capture::Suppress quiet;
        const auto plain = without_torchscript_optimiser();
        result_.pipeline = check_bundle(recording());
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& failure) {
        result_.pipeline.status = CheckStatus::kErrored;
        result_.pipeline.reason = failure.what();
      }
    }
    for (const std::string& note : result_.pipeline.notes) log_.info("whole pipeline: " + note);
    log_.info(pipeline_line(result_.pipeline));
  }

  [[nodiscard]] BundleReplay recording() const {
    BundleReplay replay{.yaml = folder_ / (request_.recording->name + ".yaml"),
                        .spec = request_.spec,
                        .tolerance = request_.tolerance,
                        .evaluators = {emit::evaluate, emit::evaluate_wide},
                        .verify_checksums = request_.verify_checksums,
                        .open = open_deployment_engine};
    for (const bundle::Model& model : request_.spec->models) {
      const PreparedNode& node = named(*request_.nodes, model.name);
      RecordedNode recorded{.name = model.name,
                            .passes = request_.recording->call_passes.at(model.name),
                            .random_outputs = node.random_outputs,
                            .graph = node.graph.outputs().empty() ? nullptr : &node.graph};
      // Later ones, that are kept because something differed in them, follow no pass that is known.
      for (std::size_t i = 0; i < node.record->samples.size() && node.record->samples[i].call == i; ++i) {
        recorded.inputs.push_back(recorded_inputs(node, i));
        recorded.outputs.push_back(recorded_outputs(node, i));
      }
      forget_delays(node, recorded);
      replay.nodes.push_back(std::move(recorded));
    }
    return replay;
  }

  /// A port that only hands its input to the next pass (a value of several passes ago goes through such): what it held
  /// in the last passes nobody read, and so nobody recorded.
  static void forget_delays(const PreparedNode& node, RecordedNode& recorded) {
    std::map<const graph::Value*, std::size_t> unused;
    std::size_t index = 0;
    for (const auto& input : node.graph.inputs()) {
      const auto& source = node.record->inputs[node.inputs[index]].source;
      if (input->users().empty() && source && source->feedback) unused.emplace(input.get(), index);
      ++index;
    }
    for (std::size_t i = 0; i < node.graph.outputs().size(); ++i) {
      const auto delay = unused.find(node.graph.outputs()[i].value);
      if (delay == unused.end()) continue;
      for (std::size_t sample = 0; sample < recorded.inputs.size(); ++sample) {
        recorded.outputs[sample][i].reset();
        if (sample > 0) recorded.inputs[sample][delay->second].reset();
      }
    }
  }

  void show() {
    const bool wrong =
        std::any_of(result_.findings.begin(), result_.findings.end(), [](const Finding& one) { return one.fails; });
    for (const Finding& finding : result_.findings) {
      const std::string text = (finding.node.empty() ? "" : finding.node + ": ") + finding_text(finding);
      // What does not fail was warned about when it happened.
      finding.fails ? log_.error(text) : log_.info(text);
    }
    const auto headed = [](const std::string& table) { return "validation\n" + table; };
    log_.block(headed(table_text(result_, false)), headed(table_text(result_, true)), wrong);
    if (wrong) log_.error(fmt::format("the log has every sample: {}", log_.path().string()));
  }

  const ValidationRequest& request_;
  Logger& log_;
  fs::path folder_;
  Validation result_;
};

std::vector<Finding> findings_of(const Validation& validation, const std::string& node) {
  std::vector<Finding> found;
  for (const Finding& finding : validation.findings) {
    if (finding.node == node) found.push_back(finding);
  }
  return found;
}

}  // namespace

Validation validate_bundle(const ValidationRequest& request) { return Validator(request).run(); }

std::vector<NodeResult> results_of(const Validation& validation) {
  std::vector<NodeResult> results;
  for (const NodeCheck& node : validation.nodes) {
    NodeResult result{node.node, node.status, static_cast<int>(node.samples), static_cast<int>(node.outputs.size()),
                      node.status == CheckStatus::kSkipped ? node.reason : ""};
    result.findings = findings_of(validation, node.node);
    const std::string text = findings_text(result.findings);
    result.message += (result.message.empty() || text.empty() ? "" : "\n") + text;
    results.push_back(std::move(result));
  }
  return results;
}

Status verdict(const Validation& validation, const fs::path& log) {
  std::string text;
  const auto add = [&](const std::string& head, const std::vector<Finding>& findings) {
    std::vector<Finding> failing;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(failing),
                 [](const Finding& f) { return f.fails; });
    if (!failing.empty()) text += fmt::format("\n  {}: {}", head, findings_text(failing));
  };
  for (const NodeCheck& node : validation.nodes)
    add(fmt::format("{} {}", node.node, check_status_name(node.status)), findings_of(validation, node.node));
  add("pipeline errored", findings_of(validation, ""));
  if (text.empty()) return {};
  return {StatusCode::kFailedPrecondition, "validation failed:" + text + "\n  log: " + log.string()};
}

Status write_report(const Validation& validation, const fs::path& folder) {
  const fs::path target = folder / (validation.name + "_report.json");
  if (validation.findings.empty()) {
    std::error_code nothing;
    fs::remove(target, nothing);
    return {};
  }
  return bundle::replace_file(target, report_text(validation));
}

}  // namespace leapp::exporter
