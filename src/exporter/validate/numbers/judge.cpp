// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "exporter/validate/interrupt.h"

namespace leapp::exporter {
namespace {

using Kind = RoundingVerdict::Kind;

std::string decisions_text(const std::vector<CloseDecision>& decisions) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(decisions.size(), kShown); ++i) {
    const CloseDecision& one = decisions[i];
    const std::string where =
        one.location.file.empty() ? "" : fmt::format(" at {}:{}", one.location.file, one.location.line);
    text += fmt::format("{}{}{} ({})", text.empty() ? "" : ", ", one.op, where, share_text(one.elements, one.of));
  }
  if (decisions.size() > kShown) text += fmt::format(" and {} more", decisions.size() - kShown);
  return text;
}

/// Every element is, within its limit, what one of the runs has.
bool is_one_of(const graph::Constant& found, const Runs& runs, const std::vector<double>& slack) {
  const std::vector<double> values = as_doubles(found);
  const Tolerance near = near_tolerance(*runs.plain);
  std::vector<bool> met(values.size());
  for (const graph::Constant& run : runs.wide) {
    const std::vector<double> other = as_doubles(run);
    if (other.size() != values.size()) return false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      met[i] = met[i] || near.allows(values[i], other[i]) || std::abs(values[i] - other[i]) <= slack[i];
    }
  }
  return std::all_of(met.begin(), met.end(), [](bool one) { return one; });
}

}  // namespace

RoundingRuns run_rounding(const graph::Graph& graph, const std::vector<Runs>& inputs, const Evaluators& evaluators,
                          RoundingOptions options, RoundingDeadline deadline) {
  RoundingReplay replay(graph, inputs, evaluators, options);
  RoundingRuns runs;
  runs.outputs.resize(graph.outputs().size());
  while (!replay.done()) {
    if (interrupted() || std::chrono::steady_clock::now() > deadline) return runs;
    replay.step();
  }
  for (std::size_t i = 0; i < runs.outputs.size(); ++i) runs.outputs[i] = replay.output(i);
  runs.decisions = replay.decisions();
  return runs;
}

SampleJudge::SampleJudge(const graph::Graph& graph, const Values& inputs, Evaluators evaluators,
                         RoundingDeadline deadline)
    : graph_(graph), evaluators_(std::move(evaluators)), deadline_(deadline) {
  for (const auto& input : inputs) inputs_.push_back({input});
}

const RoundingRuns& SampleJudge::run(std::optional<RoundingRuns>& runs, RoundingOptions options) {
  if (!runs) runs = run_rounding(graph_, inputs_, evaluators_, options, deadline_);
  return *runs;
}

RoundingVerdict judge_output(const graph::Constant& found, const graph::Constant& expected, RoundingJudge* judge,
                             std::size_t output) {
  RoundingVerdict verdict;
  const auto limits = judge == nullptr ? RoundingLimits{} : rounding_limits(judge->alike().outputs.at(output));
  if (limits.slack.empty() || judge->alike().outputs[output].plain->type != expected.type) {
    verdict.difference = measure(found, expected, usual_tolerance(expected.type.dtype));
    return verdict;
  }
  const Tolerance near = near_tolerance(expected);
  verdict.difference = measure(found, expected, near, limits.slack);
  const double together = limits.norm + std::hypot(near.atol, near.rtol * typical_size(expected)) *
                                            std::sqrt(static_cast<double>(verdict.difference.elements));
  const bool all_together = std::sqrt(verdict.difference.square) <= together;
  if (limits.typical > 0) {
    verdict.words = fmt::format("rounding alone moves its elements by {:.2g} (a run of the same operators in float64)",
                                limits.typical);
  }
  if (verdict.difference.wrong == 0 && all_together) {
    verdict.kind = Kind::kRounding;
    return verdict;
  }
  verdict.kind = Kind::kDifferent;
  const std::string close = decisions_text(judge->alike().decisions);
  if (close.empty()) return verdict;
  verdict.words += fmt::format("{}rounding decides at {}", verdict.words.empty() ? "" : "; ", close);
  const Runs& free = judge->free().outputs.at(output);
  if (free.plain && !free.wide.empty() && is_one_of(found, free, limits.slack)) verdict.kind = Kind::kDecision;
  return verdict;
}

}  // namespace leapp::exporter
