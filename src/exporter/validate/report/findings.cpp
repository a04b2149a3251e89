// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "exporter/validate/report/source_text.h"

namespace leapp::exporter {
namespace {

using Outcome = Bisection::Outcome;

std::vector<Finding> of(const std::vector<Suspect>& suspects, const std::string& node, Weight weight) {
  std::vector<Finding> found;
  for (const Suspect& suspect : suspects) {
    if (suspect.finding.node == node && suspect.weight == weight) found.push_back(suspect.finding);
  }
  return found;
}

/// "samples 1, 2 and 3 of 6"
std::string samples_text(const NodeCheck& node) {
  std::set<std::size_t> failing;
  for (const OutputProblem& problem : node.problems) failing.insert(problem.sample);
  if (failing.size() == node.known_samples) {
    return node.known_samples == 1 ? "the one sample" : fmt::format("all {} samples", node.known_samples);
  }
  std::vector<std::string> numbers;
  for (const std::size_t sample : failing) numbers.push_back(std::to_string(sample));
  return fmt::format("{} {} of {}", numbers.size() == 1 ? "sample" : "samples", join(numbers, ", "),
                     node.known_samples);
}

bool begins_later(const NodeCheck& node) {
  return node.known_samples > 1 && std::all_of(node.problems.begin(), node.problems.end(),
                                               [](const OutputProblem& problem) { return problem.sample > 0; });
}

/// Not where an operator of the model, or its engine, was seen to compute something else.
bool may_be_baked(const NodeCheck& node) {
  return !node.bisection || node.bisection->outcome == Outcome::kSame || node.bisection->outcome == Outcome::kUnknown;
}

/// The numbers, as they stand below any finding about them: each output once, with its first sample that is wrong.
std::vector<std::string> numbers_of(const NodeCheck& node) {
  std::vector<std::string> lines;
  std::set<std::string> outputs;
  for (const OutputProblem& problem : node.problems) {
    if (outputs.insert(problem.output).second) lines.push_back(problem.text);
  }
  if (!node.only_on.empty()) {
    lines.push_back(fmt::format("only on {}: on {} the model gives what the program gave", node.only_on,
                                node.engines.empty() ? "the other" : node.engines[0]));
  }
  return lines;
}

std::string search_text(const Bisection& search) {
  switch (search.outcome) {
    case Outcome::kFirst:
      return fmt::format("{} is the first of {} operators whose result differs ({}; it is number {})", search.op,
                         search.operators, search.difference, search.position);
    case Outcome::kSame:
      return fmt::format(
          "the exported model does what was captured in the first call: all {} operators agree. In this "
          "sample the program did something else",
          search.operators);
    case Outcome::kHidden:
      return fmt::format(
          "with every one of its {} operators visible the engine computes the right result: it is an "
          "optimisation of the engine's that differs",
          search.operators);
    case Outcome::kUnknown:
      break;
  }
  return fmt::format("which operator differs first is not known: {}", search.note);
}

std::string mismatch_remedy(const NodeCheck& node) {
  if (node.given) return "your own model does not compute what the program does; check that it is the right file";
  if (node.problems[0].is_other_signature()) {
    return "the file is not what was exported: export again, and look for what rewrites it";
  }
  if (!node.only_on.empty()) {
    return "the fault is that engine's, not the model's: InferenceManager(path, engine=\"onnxruntime\"), --engine "
           "onnxruntime or LEAPP_ENGINE=onnxruntime runs the bundle without it";
  }
  const Outcome outcome = node.bisection ? node.bisection->outcome : Outcome::kUnknown;
  if (outcome == Outcome::kSame) {
    return "look for what changes from call to call without LEAPP seeing it (docs/concepts/limits.md): make it a "
           "tensor and "
           "announce it with annotate.input_tensors or annotate.state_tensors";
  }
  const std::string other = node.backend == "onnx" ? "jit" : "onnx";
  return fmt::format(
      "the operator is exported with another result. If the difference is small enough for you, give compile_graph an "
      "rtol "
      "and an atol; else write the line in other operators, or export the node with export_with=\"{}\"",
      other);
}

std::string nan_remedy(const NodeCheck& node) {
  const Difference& difference = node.problems[0].difference;
  if (difference.expected.nans == 0) return mismatch_remedy(node);
  return "the program itself gives NaN there: keep it from doing so (torch.clamp before log and sqrt, an epsilon below "
         "a division), or run it with inputs that it is made for";
}

void locate(Finding& finding, const graph::SourceLocation& location) {
  finding.file = location.file;
  finding.line = location.line;
  finding.code = line_of(location.file, location.line);
}

/// What no cause is known for but the model itself.
Finding numeric_finding(const NodeCheck& node) {
  const OutputProblem& first = node.problems[0];
  Finding finding;
  finding.kind = problem_kind_name(first.kind);
  finding.fails = true;
  finding.node = node.node;
  const std::string name = first.output.empty() ? node.node : node.node + "/" + first.output;
  finding.what = fmt::format("{} of the exported model is not what the program gave, in {}: {}", name,
                             samples_text(node), first.brief);
  if (begins_later(node) && may_be_baked(node)) {
    finding.what += ". Earlier samples agree: something that changes from call to call is baked into the model";
  }
  finding.details = numbers_of(node);
  if (node.bisection) finding.details.push_back(search_text(*node.bisection));
  if (node.bisection && node.bisection->outcome == Outcome::kFirst) locate(finding, node.bisection->location);
  finding.remedy = first.kind == ProblemKind::kNan ? nan_remedy(node) : mismatch_remedy(node);
  return finding;
}

/// What passes, and is not quite equal.
Finding rounding_finding(const NodeCheck& node) {
  Finding finding;
  finding.kind = "rounding";
  finding.node = node.node;
  finding.what = node.notes[0];
  finding.details.assign(node.notes.begin() + 1, node.notes.end());
  finding.remedy = "nothing, unless that is too much for you: rtol and atol of compile_graph, when given, decide alone";
  return finding;
}

Finding errored_finding(const NodeCheck& node) {
  Finding finding;
  finding.kind = "errored";
  finding.fails = true;
  finding.node = node.node;
  finding.what = fmt::format("the exported model of '{}' does not {}: {}", node.node,
                             node.samples == 0 ? "load or run" : "run", node.reason);
  finding.remedy = node.given ? "check that the file is a model of the kind its suffix says, with the ports of the node"
                              : "export the node with another backend (export_with), and report the message above";
  return finding;
}

/// The causes that the samples' failing confirms: numbers go to the first.
void add_causes(std::vector<Finding> causes, const NodeCheck& node, std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < causes.size(); ++i) {
    causes[i].fails = true;
    if (i == 0) {
      causes[i].details.push_back(fmt::format("it shows in {}", samples_text(node)));
      for (std::string& line : numbers_of(node)) causes[i].details.push_back(std::move(line));
    }
    findings.push_back(std::move(causes[i]));
  }
}

void join_node(NodeCheck& node, const std::vector<Suspect>& suspects, std::vector<Finding>& findings) {
  std::vector<Finding> certain = of(suspects, node.node, Weight::kDiffers);
  std::vector<Finding> likely = of(suspects, node.node, Weight::kExplains);
  // An operator that computes something else is a cause of its own; so is a program that is not the same twice.
  const bool own = node.bisection && node.bisection->outcome == Outcome::kFirst;
  const bool unexplained = !node.problems.empty() &&
                           (own || node.problems[0].kind == ProblemKind::kNan || node.problems[0].is_other_signature());
  // What differs from call to call fails a node when the numbers do, of which there are some of every such call.
  const bool agrees = node.samples > 0 && node.problems.empty() && node.random_outputs.empty();
  for (Finding& finding : certain) {
    if (node.backend.empty() || agrees) finding.fails = false;
    if (agrees)
      finding.details.emplace_back("every sample agrees: it makes no difference to the outputs that were seen");
  }
  if (node.status == CheckStatus::kErrored) findings.push_back(errored_finding(node));
  if (unexplained) {
    findings.push_back(numeric_finding(node));
    for (Finding& finding : certain) findings.push_back(std::move(finding));
  } else if (!node.problems.empty() && !certain.empty()) {
    add_causes(std::move(certain), node, findings);
  } else if (!node.problems.empty() && !likely.empty()) {
    add_causes(std::exchange(likely, {}), node, findings);
  } else if (!node.problems.empty() && !of(suspects, node.node, Weight::kSuspect).empty()) {
    add_causes(of(suspects, node.node, Weight::kSuspect), node, findings);
  } else if (!node.problems.empty()) {
    findings.push_back(numeric_finding(node));
  } else {
    for (Finding& finding : certain) findings.push_back(std::move(finding));
  }
  for (Finding& finding : likely) findings.push_back(std::move(finding));
  if (!node.notes.empty() && node.problems.empty()) findings.push_back(rounding_finding(node));
  for (Finding& finding : of(suspects, node.node, Weight::kNote)) findings.push_back(std::move(finding));
}

bool fails(const std::vector<Finding>& findings, const std::string& node) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.fails && finding.node == node; });
}

std::string by_pass_text(const Drift& drift, std::size_t passes) {
  std::vector<std::string> by_pass;
  for (const double max : drift.max) by_pass.push_back(fmt::format("{:.3g}", max));
  return fmt::format("|diff| max by pass ({} passes): {}; worst in pass {}, {}", passes, join(by_pass, ", "),
                     drift.worst_pass, trend_name(drift.trend));
}

Finding drift_finding(const Drift& drift, std::size_t passes) {
  Finding finding;
  finding.kind = "drift";
  finding.fails = true;
  finding.node = drift.output.substr(0, drift.output.find('/'));
  finding.what =
      fmt::format("{} is right when each node runs alone and wrong when the whole pipeline runs, from pass {} on: {}",
                  drift.output, drift.problem->sample, drift.problem->brief);
  finding.details = {by_pass_text(drift, passes), drift.problem->text};
  finding.remedy =
      drift.trend == Trend::kGrows
          ? "small differences add up from pass to pass. If that is right for this pipeline, give an rtol and "
            "an atol; else look for state that a node keeps and does not announce"
          : "a node gets something else than in the program: look for values that pass between nodes "
            "without LEAPP seeing it (docs/concepts/limits.md), and announce them with annotate.input_tensors";
  return finding;
}

void join_pipeline(const Validation& validation, std::vector<Finding>& findings) {
  const PipelineCheck& pipeline = validation.pipeline;
  if (pipeline.status == CheckStatus::kErrored) {
    const bool known = std::any_of(validation.nodes.begin(), validation.nodes.end(), [](const NodeCheck& node) {
      return node.status == CheckStatus::kErrored || node.status == CheckStatus::kFailed;
    });
    if (known) return;
    findings.push_back({.kind = "errored",
                        .fails = true,
                        .what = "the bundle does not run as a whole: " + pipeline.reason,
                        .remedy = "report the message above"});
  }
  // What a failing node gives is wrong wherever it goes: said already.
  const bool explained = std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.fails; });
  if (explained) return;
  for (const Drift& drift : pipeline.outputs) {
    if (!drift.problem) continue;
    const std::string node = drift.output.substr(0, drift.output.find('/'));
    const auto known = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& one) { return one.kind == "drift" && one.node == node; });
    if (known == findings.end()) {
      findings.push_back(drift_finding(drift, pipeline.passes));
    } else {
      known->details.push_back(fmt::format("{} too: {}", drift.output, by_pass_text(drift, pipeline.passes)));
    }
  }
}

}  // namespace

std::vector<Finding> join_findings(Validation& validation, const std::vector<Suspect>& suspects) {
  std::vector<Finding> findings;
  for (NodeCheck& node : validation.nodes) join_node(node, suspects, findings);
  join_pipeline(validation, findings);
  for (NodeCheck& node : validation.nodes) {
    if (node.status != CheckStatus::kErrored && fails(findings, node.node)) node.status = CheckStatus::kFailed;
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.fails && !b.fails; });
  return findings;
}

}  // namespace leapp::exporter
