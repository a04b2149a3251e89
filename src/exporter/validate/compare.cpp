// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/compare.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/text.h"

namespace leapp::exporter {
namespace {

std::string type_of(const graph::TensorType& type) { return type_text(type.dtype, type.shape); }

std::string range_text(const Content& content) {
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

std::string statistics_text(const OutputProblem& problem, const Tolerance& tolerance) {
  const Difference& d = problem.difference;
  const Percentiles& p = problem.percentiles;
  return fmt::format(
      "{} differ by more than rtol {} and atol {}; range of the source {}, of the exported output {}; |diff| max "
      "{:.6g}, mean {:.6g}, p50 {:.6g}, p75 {:.6g}, p90 {:.6g}, p99 {:.6g}, p99.5 {:.6g}; worst at {}: exported "
      "{:.9g}, source {:.9g}",
      share_text(d.wrong, d.elements), tolerance.rtol, tolerance.atol, range_text(d.expected), range_text(d.found),
      d.max, d.mean, p.p50, p.p75, p.p90, p.p99, p.p995, index_text(d.worst, problem.expected.shape), d.worst_found,
      d.worst_expected);
}

/// Fills in kind, brief and text; false: the two agree.
bool describe(OutputProblem& problem, const graph::Constant& found, const graph::Constant& expected,
              const Tolerance& tolerance) {
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
    problem.text = statistics_text(problem, tolerance);
  } else {
    return false;
  }
  return true;
}

void compare_one(const graph::Constant& found, const graph::Constant& expected, const ComparedSample& sample,
                 const std::string& output, Comparison& result) {
  const std::string name = fmt::format("{}/{}, sample {}", sample.node, output, sample.number);
  OutputProblem problem{.output = output, .sample = sample.number, .found = found.type, .expected = expected.type};
  if (found.type != expected.type) {
    problem.kind = ProblemKind::kType;
    problem.brief = fmt::format("expected {}, found {}", type_of(expected.type), type_of(found.type));
    problem.text = fmt::format("{}: {}", name, problem.brief);
    result.problems.push_back(std::move(problem));
    return;
  }
  problem.difference = measure(found, expected, sample.tolerance);
  result.max.back() = problem.difference.max;
  if (describe(problem, found, expected, sample.tolerance)) {
    problem.text = fmt::format("{}: {}: {}", name, type_of(expected.type), problem.text);
    result.problems.push_back(std::move(problem));
  } else if (const std::uint64_t infinite = problem.difference.expected.infinities; infinite > 0) {
    result.warnings.push_back(
        fmt::format("{}: both sides are infinite in {}", name, share_text(infinite, problem.difference.elements)));
  }
}

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
    compare_one(*found[i], *expected[i], sample, sample.outputs[i], result);
  }
  return result;
}

}  // namespace leapp::exporter
