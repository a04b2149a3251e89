// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/report.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bundle/yaml/json.h"

namespace leapp::exporter {
namespace {

using bundle::YamlList;
using bundle::YamlMap;
using bundle::YamlValue;

YamlValue count(std::size_t value) { return static_cast<std::int64_t>(value); }

YamlValue texts(const std::vector<std::string>& values) {
  YamlList list;
  for (const std::string& value : values) list.emplace_back(value);
  return list;
}

/// Entries in the order in which they are set, each once.
class Object {
 public:
  Object(std::initializer_list<std::pair<std::string, YamlValue>> entries) : map_(entries) {}
  YamlValue& operator[](const char* key) { return map_.emplace_back(key, YamlValue()).second; }
  operator YamlValue() && { return std::move(map_); }  // NOLINT: it is one

 private:
  YamlMap map_;
};

YamlValue json_of(const OutputProblem& problem);
YamlValue json_of(const NodeCheck& node);
YamlValue json_of(const Drift& drift);
YamlValue json_of(const Finding& finding);

template <typename Items>
YamlValue list_of(const Items& items) {
  YamlList list;
  for (const auto& item : items) list.push_back(json_of(item));
  return list;
}

/// JSON has no word for what is no finite number.
YamlValue number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return nullptr;
  return value > 0 ? "inf" : "-inf";
}

YamlValue numbers(const std::vector<double>& values) {
  YamlList list;
  for (const double value : values) list.push_back(number(value));
  return list;
}

YamlValue json_of(const ContentSummary& content) {
  Object json{{"nan", count(content.nans)}, {"inf", count(content.infinities)}};
  if (content.low <= content.high) json["range"] = YamlList{number(content.low), number(content.high)};
  return json;
}

YamlValue json_of(const OutputProblem& problem) {
  Object json{{"kind", std::string(problem_kind_name(problem.kind))},
              {"output", problem.output},
              {"sample", count(problem.sample)},
              {"text", problem.text}};
  if (problem.kind == ProblemKind::kCount) return json;
  json["exported_type"] = type_text(problem.found.dtype, problem.found.shape);
  json["source_type"] = type_text(problem.expected.dtype, problem.expected.shape);
  if (problem.kind == ProblemKind::kType) return json;
  const Difference& difference = problem.difference;
  json["elements"] = count(difference.elements);
  json["wrong"] = count(difference.wrong);
  json["exported"] = json_of(difference.found);
  json["source"] = json_of(difference.expected);
  if (problem.kind != ProblemKind::kMismatch) return json;
  const Percentiles& p = problem.percentiles;
  json["difference"] = YamlMap{{"max", number(difference.max)}, {"mean", number(difference.mean)},
                               {"p50", number(p.p50)},          {"p75", number(p.p75)},
                               {"p90", number(p.p90)},          {"p99", number(p.p99)},
                               {"p99.5", number(p.p995)}};
  json["worst"] = YamlMap{{"element", count(difference.worst)},
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

YamlValue json_of(const Bisection& bisection) {
  Object json{{"outcome", outcome_name(bisection.outcome)},
              {"compared", count(bisection.position)},
              {"operators", count(bisection.operators)}};
  if (bisection.outcome == Bisection::Outcome::kFirst) {
    json["operator"] = bisection.op;
    json["file"] = bisection.location.file;
    json["line"] = bisection.location.line;
    json["difference"] = bisection.difference;
  }
  if (!bisection.note.empty()) json["note"] = bisection.note;
  return json;
}

YamlValue json_of(const NodeCheck& node) {
  Object json{{"node", node.node}, {"status", std::string(check_status_name(node.status))}};
  json["backend"] = node.backend.empty() ? YamlValue() : YamlValue(node.backend);
  if (!node.reason.empty()) json["reason"] = node.reason;
  json["samples"] = count(node.samples);
  json["agreeing"] = count(node.agreeing);
  json["outputs"] = texts(node.outputs);
  json["max_difference"] = numbers(node.max);
  if (!node.random_outputs.empty()) json["random_outputs"] = texts(node.random_outputs);
  json["problems"] = list_of(node.problems);
  if (!node.notes.empty()) json["notes"] = texts(node.notes);
  if (node.bisection) json["bisection"] = json_of(*node.bisection);
  return json;
}

YamlValue json_of(const Drift& drift) {
  Object json{{"output", drift.output},
              {"state", drift.state},
              {"max_difference_by_pass", numbers(drift.max)},
              {"worst_pass", count(drift.worst_pass)},
              {"trend", std::string(trend_name(drift.trend))}};
  if (drift.problem) json["problem"] = json_of(*drift.problem);
  return json;
}

YamlValue json_of(const PipelineCheck& pipeline) {
  Object json{{"status", pipeline.status ? std::string(check_status_name(*pipeline.status)) : ""}};
  if (!pipeline.reason.empty()) json["reason"] = pipeline.reason;
  json["passes"] = count(pipeline.passes);
  json["outputs"] = list_of(pipeline.outputs);
  json["notes"] = texts(pipeline.notes);
  return json;
}

YamlValue json_of(const Finding& finding) {
  Object json{{"kind", finding.kind}, {"fails", finding.fails}, {"node", finding.node}, {"what", finding.what}};
  json["file"] = finding.file.empty() ? YamlValue() : YamlValue(finding.file);
  json["line"] = finding.file.empty() ? YamlValue() : YamlValue(finding.line);
  json["code"] = finding.code;
  json["details"] = texts(finding.details);
  json["remedy"] = finding.remedy;
  json["snippet"] = finding.snippet;
  return json;
}

}  // namespace

std::string report_text(const Validation& validation) {
  const auto& given = validation.tolerance;
  const YamlMap tolerance{{"rtol", given ? YamlValue(given->rtol) : YamlValue()},
                          {"atol", given ? YamlValue(given->atol) : YamlValue()}};
  Object json{{"name", validation.name}, {"tolerance", tolerance}};
  json["findings"] = list_of(validation.findings);
  json["nodes"] = list_of(validation.nodes);
  json["pipeline"] = json_of(validation.pipeline);
  // Names and source lines may be any bytes.
  return bundle::json_text(std::move(json), 2) + "\n";
}

}  // namespace leapp::exporter
