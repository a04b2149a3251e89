// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace leapp::exporter {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no word for what is no finite number.
Json number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return nullptr;
  return value > 0 ? "inf" : "-inf";
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json json_of(const Content& content) {
  Json json = {{"nan", content.nans}, {"inf", content.infinities}};
  if (content.low <= content.high) json["range"] = {number(content.low), number(content.high)};
  return json;
}

Json json_of(const OutputProblem& problem) {
  Json json = {{"kind", problem_kind_name(problem.kind)},
               {"output", problem.output},
               {"sample", problem.sample},
               {"text", problem.text}};
  if (problem.kind == ProblemKind::kCount) return json;
  json["exported_type"] = type_text(problem.found.dtype, problem.found.shape);
  json["source_type"] = type_text(problem.expected.dtype, problem.expected.shape);
  if (problem.kind == ProblemKind::kType) return json;
  const Difference& difference = problem.difference;
  json["elements"] = difference.elements;
  json["wrong"] = difference.wrong;
  json["exported"] = json_of(difference.found);
  json["source"] = json_of(difference.expected);
  if (problem.kind != ProblemKind::kMismatch) return json;
  const Percentiles& p = problem.percentiles;
  json["difference"] = {{"max", number(difference.max)}, {"mean", number(difference.mean)},
                        {"p50", number(p.p50)},          {"p75", number(p.p75)},
                        {"p90", number(p.p90)},          {"p99", number(p.p99)},
                        {"p99.5", number(p.p995)}};
  json["worst"] = {{"element", difference.worst},
                   {"exported", number(difference.worst_found)},
                   {"source", number(difference.worst_expected)}};
  return json;
}

const char* outcome_name(Bisection::Outcome outcome) {
  switch (outcome) {
    case Bisection::Outcome::kFirst:
      return "operator";
    case Bisection::Outcome::kSame:
      return "model does what was captured";
    case Bisection::Outcome::kHidden:
      return "engine";
    case Bisection::Outcome::kUnknown:
      break;
  }
  return "unknown";
}

Json json_of(const Bisection& bisection) {
  Json json = {{"outcome", outcome_name(bisection.outcome)},
               {"compared", bisection.position},
               {"operators", bisection.operators}};
  if (bisection.outcome == Bisection::Outcome::kFirst) {
    json["operator"] = bisection.op;
    json["file"] = bisection.location.file;
    json["line"] = bisection.location.line;
    json["difference"] = bisection.difference;
  }
  if (!bisection.note.empty()) json["note"] = bisection.note;
  return json;
}

Json json_of(const NodeCheck& node) {
  Json json = {{"node", node.node}, {"status", check_status_name(node.status)}};
  json["backend"] = node.backend.empty() ? Json() : Json(node.backend);
  if (!node.reason.empty()) json["reason"] = node.reason;
  json["samples"] = node.samples;
  json["agreeing"] = node.agreeing;
  json["outputs"] = node.outputs;
  json["max_difference"] = numbers(node.max);
  if (!node.random_outputs.empty()) json["random_outputs"] = node.random_outputs;
  json["problems"] = Json::array();
  for (const OutputProblem& problem : node.problems) json["problems"].push_back(json_of(problem));
  if (!node.notes.empty()) json["notes"] = node.notes;
  if (node.bisection) json["bisection"] = json_of(*node.bisection);
  return json;
}

Json json_of(const PipelineCheck& pipeline) {
  Json json = {{"status", pipeline.status ? check_status_name(*pipeline.status) : ""}};
  if (!pipeline.reason.empty()) json["reason"] = pipeline.reason;
  json["passes"] = pipeline.passes;
  json["outputs"] = Json::array();
  for (const Drift& drift : pipeline.outputs) {
    Json one = {{"output", drift.output},
                {"state", drift.state},
                {"max_difference_by_pass", numbers(drift.max)},
                {"worst_pass", drift.worst_pass},
                {"trend", trend_name(drift.trend)}};
    if (drift.problem) one["problem"] = json_of(*drift.problem);
    json["outputs"].push_back(std::move(one));
  }
  json["notes"] = pipeline.notes;
  return json;
}

Json json_of(const Finding& finding) {
  Json json = {{"kind", finding.kind}, {"fails", finding.fails}, {"node", finding.node}, {"what", finding.what}};
  json["file"] = finding.file.empty() ? Json() : Json(finding.file);
  json["line"] = finding.file.empty() ? Json() : Json(finding.line);
  json["code"] = finding.code;
  json["details"] = finding.details;
  json["remedy"] = finding.remedy;
  json["snippet"] = finding.snippet;
  return json;
}

}  // namespace

std::string report_text(const Validation& validation) {
  const auto& given = validation.tolerance;
  Json json = {
      {"name", validation.name},
      {"tolerance", {{"rtol", given ? Json(given->rtol) : Json()}, {"atol", given ? Json(given->atol) : Json()}}}};
  json["findings"] = Json::array();
  for (const Finding& finding : validation.findings) json["findings"].push_back(json_of(finding));
  json["nodes"] = Json::array();
  for (const NodeCheck& node : validation.nodes) json["nodes"].push_back(json_of(node));
  json["pipeline"] = json_of(validation.pipeline);
  // Names and source lines may be any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace leapp::exporter
