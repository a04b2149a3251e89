// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "exporter/validate/numbers/judge.h"

namespace leapp::exporter {
namespace {

std::string type_of(const graph::TensorType& type) { return type_text(type.dtype, type.shape); }

std::string range_text(const ContentSummary& content) {
  if (content.low > content.high) return "[]";
  return fmt::format("[{:.6g}, {:.6g}]", content.low, content.high);
}

/// "[0,7]" for element 7 of a row of twelve.
std::string index_text(std::uint64_t element, const graph::Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(element);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return shape_text(index);
}

// Names the side: the model that was exported, or the program it was made from.
std::string nan_text(const Difference& difference) {
  std::string text;
  for (const auto& [side, content] :
       {std::pair{"exported", &difference.found}, std::pair{"source", &difference.expected}}) {
    if (content->nans == 0) continue;
    text += fmt::format("{}NaN in the {} output: {}", text.empty() ? "" : "; ", side,
                        share_text(content->nans, difference.elements));
  }
  return text;
}

std::string infinity_text(const Difference& difference) {
  return fmt::format("Inf at different places: exported {}, source {}",
                     share_text(difference.found.infinities, difference.elements),
                     share_text(difference.expected.infinities, difference.elements));
}

std::string statistics_text(const OutputProblem& problem, const std::string& limit) {
  const Difference& d = problem.difference;
  const Percentiles& p = problem.percentiles;
  return fmt::format(
      "{} differ by more than {}; range of the source {}, of the exported output {}; |diff| max "
      "{:.6g}, mean {:.6g}, p50 {:.6g}, p75 {:.6g}, p90 {:.6g}, p99 {:.6g}, p99.5 {:.6g}; worst at {}: exported "
      "{:.9g}, source {:.9g}",
      share_text(d.wrong, d.elements), limit, range_text(d.expected), range_text(d.found), d.max, d.mean, p.p50, p.p75,
      p.p90, p.p99, p.p995, index_text(d.worst, problem.expected.shape), d.worst_found, d.worst_expected);
}

std::string tolerance_text(const Tolerance& tolerance) {
  return fmt::format("rtol {} and atol {}", tolerance.rtol, tolerance.atol);
}

/// Fills in kind, brief and text; false: the two agree. `limit` says in words how much was allowed.
bool describe(OutputProblem& problem, const graph::Constant& found, const graph::Constant& expected,
              const std::string& limit) {
  const Difference& difference = problem.difference;
  if (difference.has_nan()) {
    problem.kind = ProblemKind::kNan;
    problem.brief = problem.text = nan_text(difference);
  } else if (difference.misplaced_infinities > 0) {
    problem.kind = ProblemKind::kInfinity;
    problem.brief = problem.text = infinity_text(difference);
  } else if (difference.wrong > 0) {
    problem.kind = ProblemKind::kMismatch;
    problem.percentiles = percentiles(found, expected);
    problem.brief =
        fmt::format("{} differ, |diff| max {:.6g}", share_text(difference.wrong, difference.elements), difference.max);
    problem.text = statistics_text(problem, limit);
  } else {
    return false;
  }
  return true;
}

/// Compares one output with its like.
class OutputComparison {
 public:
  OutputComparison(const ComparedSample& sample, std::size_t output, Comparison& result)
      : sample_(sample), output_(output), result_(result) {}

  void run(const graph::Constant& found, const graph::Constant& expected) {
    OutputProblem problem{
        .output = sample_.outputs[output_], .sample = sample_.number, .found = found.type, .expected = expected.type};
    if (found.type != expected.type) {
      problem.kind = ProblemKind::kType;
      problem.brief = fmt::format("expected {}, found {}", type_of(expected.type), type_of(found.type));
      problem.text = fmt::format("{}: {}", name(), problem.brief);
      result_.problems.push_back(std::move(problem));
      return;
    }
    const Tolerance tolerance = sample_.tolerance ? *sample_.tolerance : near_tolerance(expected);
    problem.difference = measure(found, expected, tolerance);
    result_.max.back() = problem.difference.max;
    std::string limit = tolerance_text(tolerance);
    std::string words;
    if (!sample_.tolerance && is_mismatch(problem.difference)) limit = judge(problem, found, expected, words);
    if (describe(problem, found, expected, limit)) {
      problem.text =
          fmt::format("{}: {}: {}{}{}", name(), type_of(expected.type), problem.text, words.empty() ? "" : "; ", words);
      result_.problems.push_back(std::move(problem));
    } else if (const std::uint64_t infinite = problem.difference.expected.infinities; infinite > 0) {
      result_.warnings.push_back(
          fmt::format("{}: both sides are infinite in {}", name(), share_text(infinite, problem.difference.elements)));
    }
  }

 private:
  [[nodiscard]] std::string name() const {
    return fmt::format("{}/{}, sample {}", sample_.node, sample_.outputs[output_], sample_.number);
  }

  static bool is_mismatch(const Difference& difference) {
    return !difference.has_nan() && difference.misplaced_infinities == 0 && difference.wrong > 0;
  }

  /// Replaces the difference by what is more than rounding; returns what that is called.
  std::string judge(OutputProblem& problem, const graph::Constant& found, const graph::Constant& expected,
                    std::string& words) {
    const std::uint64_t moved = problem.difference.wrong;
    RoundingVerdict verdict = judge_output(found, expected, sample_.judge, output_);
    problem.difference = verdict.difference;
    words = verdict.words;
    switch (verdict.kind) {
      case RoundingVerdict::Kind::kUnknown:
        return tolerance_text(usual_tolerance(expected.type.dtype));
      case RoundingVerdict::Kind::kDifferent:
        // All of them together are too far off, and none by itself.
        problem.difference.wrong = std::max(problem.difference.wrong, std::uint64_t{1});
        return "rounding explains";
      case RoundingVerdict::Kind::kRounding:
      case RoundingVerdict::Kind::kDecision:
        break;
    }
    problem.difference.wrong = 0;
    const bool rounding = verdict.kind == RoundingVerdict::Kind::kRounding;
    result_.notes.push_back(fmt::format("{}: {} differ{} in the last digits, |diff| max {:.2g}: {}{}", name(),
                                        share_text(moved, verdict.difference.elements), moved == 1 ? "s" : "",
                                        verdict.difference.max,
                                        rounding ? "" : "the model decides as rounding may have it: ", words));
    return "";
  }

  const ComparedSample& sample_;
  std::size_t output_;
  Comparison& result_;
};

}  // namespace

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} of {} elements ({:.3g} %)", part, whole,
                     100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

Comparison compare(const Values& found, const Values& expected, const ComparedSample& sample) {
  Comparison result;
  if (found.size() != expected.size()) {
    OutputProblem problem{.kind = ProblemKind::kCount, .sample = sample.number};
    problem.brief = fmt::format("expected {} outputs, found {}", expected.size(), found.size());
    problem.text = fmt::format("{}, sample {}: {}", sample.node, sample.number, problem.brief);
    result.problems.push_back(std::move(problem));
    return result;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    result.max.push_back(std::numeric_limits<double>::quiet_NaN());
    // What capture does not know the value of cannot be compared.
    if (sample.outputs[i].empty() || !expected[i] || !found[i]) continue;
    OutputComparison(sample, i, result).run(*found[i], *expected[i]);
  }
  return result;
}

}  // namespace leapp::exporter
