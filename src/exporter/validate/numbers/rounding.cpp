// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/tolerance.h"

namespace leapp::exporter {
namespace {

constexpr std::size_t kRuns = 4;  // in float64, the first of them exact

/// How many times what was seen an element may be off, and how much of its size at most, however much was seen.
constexpr double kMargin = 16;
constexpr double kMost = 0.25;

bool rounds(DType dtype) { return unit_roundoff(dtype) > 0; }

bool is_complex(DType dtype) {
  return dtype == DType::kComplex32 || dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

graph::Constant wide_constant(std::vector<double> values, const graph::TensorType& like) {
  const auto owner = std::make_shared<std::vector<double>>(std::move(values));
  return {{is_complex(like.dtype) ? DType::kComplex128 : DType::kFloat64, like.shape},
          std::shared_ptr<const void>(owner, owner->data())};
}

/// A number in [-1, 1) that is the same in every process.
double random_sign(std::uint64_t stream, std::uint64_t element) {
  std::uint64_t bits = stream * 0x9e3779b97f4a7c15U + element + 1;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31U;
  return static_cast<double>(bits >> 11U) * 0x1p-52 - 1;
}

enum class Steps : std::uint8_t {
  kNone,
  kFlat,   ///< between its steps the result does not depend on the operand: floor
  kSloped  ///< it does: remainder
};

Steps steps_of(const graph::Node& node) {
  constexpr std::array<std::string_view, 9> kFlat = {"aten::floor", "aten::ceil",         "aten::round",
                                                     "aten::trunc", "aten::fix",          "aten::sign",
                                                     "aten::sgn",   "aten::floor_divide", "aten::heaviside"};
  constexpr std::array<std::string_view, 5> kSloped = {"aten::remainder", "aten::fmod", "aten::frac", "aten::threshold",
                                                       "aten::hardshrink"};
  const std::string& op = node.op();
  if (std::find(kFlat.begin(), kFlat.end(), op) != kFlat.end()) return Steps::kFlat;
  if (std::find(kSloped.begin(), kSloped.end(), op) != kSloped.end()) return Steps::kSloped;
  const bool quantised = op.find("fake_quantize") != std::string::npos;
  const bool whole_quotient = op == "aten::div" && node.overload().ends_with("_mode");
  return quantised || whole_quotient ? Steps::kFlat : Steps::kNone;
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? value * value : 0;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

/// How much each element of an operator's result was rounded.
class Roundings {
 public:
  /// `exact`: the same operator on the same operands in float64; absent where it cannot be run so.
  Roundings(const graph::Constant& plain, const std::optional<graph::Constant>& exact) : plain_(as_doubles(plain)) {
    if (!exact || exact->type.shape != plain.type.shape) return;
    unit_ = unit_roundoff(plain.type.dtype);
    known_ = true;
    if (plain.type.dtype == DType::kFloat64 || plain.type.dtype == DType::kComplex128) {
      of_doubles();
      return;
    }
    sizes_ = as_doubles(*exact);
    if (sizes_.size() != plain_.size()) {
      known_ = false;
      return;
    }
    bool any = false;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const double off = std::abs(sizes_[i] - plain_[i]);
      sizes_[i] = std::isfinite(off) ? off : 0;
      any = any || sizes_[i] > 0;
    }
    // Not rounding, but another of several right results: the sign of an eigenvector.
    known_ = root_mean_square(sizes_) <= 0.3 * root_mean_square(plain_);
    for (std::size_t i = 0; any && i < sizes_.size(); ++i) sizes_[i] = std::max(sizes_[i], unit_of(plain_[i]));
  }

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] double size(std::size_t element) const { return sizes_[element]; }
  [[nodiscard]] const std::vector<double>& plain() const { return plain_; }

 private:
  [[nodiscard]] double unit_of(double value) const { return std::isfinite(value) ? unit_ * std::abs(value) : 0; }

  // There is nothing more exact to compare with. Whole numbers are mostly meant to be such.
  void of_doubles() {
    sizes_.resize(plain_.size());
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      sizes_[i] = plain_[i] == std::rint(plain_[i]) ? 0 : unit_of(plain_[i]);
  }

  std::vector<double> plain_;
  std::vector<double> sizes_;
  double unit_ = 0;
  bool known_ = false;
};

/// One result of one run.
struct WideResult {
  graph::Constant value;
  std::uint64_t decided_otherwise = 0;  ///< elements
};

WideResult whole_result(const graph::Constant& plain, const std::optional<graph::Constant>& found, bool decide_alike) {
  if (!found || found->type != plain.type) return {plain};
  if (!decide_alike) return {*found};
  if (plain.same_content(*found)) return {plain};
  const Difference difference = measure(*found, plain, {0, 0});
  return {plain, difference.wrong};
}

WideResult rounded_result(const Roundings& roundings, const graph::Constant& plain,
                          const std::optional<graph::Constant>& found, Steps steps, std::uint64_t stream) {
  if (!roundings.known() || !found || found->type.shape != plain.type.shape) {
    return {wide_constant(roundings.plain(), plain.type)};
  }
  std::vector<double> values = as_doubles(*found);
  const std::vector<double>& as_program = roundings.plain();
  if (values.size() != as_program.size()) return {wide_constant(as_program, plain.type)};
  WideResult result;
  if (steps != Steps::kNone) {
    double largest = 0;
    for (const double value : as_program) largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0);
    const double jump = largest * (steps == Steps::kFlat ? 8 * unit_roundoff(plain.type.dtype) : 0.25);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(std::abs(values[i] - as_program[i]) > jump)) continue;
      values[i] = as_program[i];
      ++result.decided_otherwise;
    }
  }
  if (stream != 0 && steps != Steps::kFlat) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += roundings.size(i) * random_sign(stream, i);
  }
  result.value = wide_constant(std::move(values), plain.type);
  return result;
}

std::vector<GraphReplay> replays_of(const graph::Graph& graph, const std::vector<Runs>& inputs,
                                    const graph::Evaluator& evaluate) {
  std::vector<GraphReplay> replays;
  for (std::size_t run = 0; evaluate && run < kRuns; ++run) {
    Values values;
    for (const Runs& input : inputs) {
      values.push_back(input.wide.empty() ? input.plain : std::optional(input.wide[run]));
    }
    replays.emplace_back(graph, values, evaluate);
  }
  return replays;
}

Values plain_of(const std::vector<Runs>& runs) {
  Values values;
  for (const Runs& one : runs) values.push_back(one.plain);
  return values;
}

/// Numbers of about the same size have about the same errors.
class BySize {
 public:
  void add(double value, double square) {
    auto& [sum, count] = groups_[group(value)];
    sum += square;
    ++count;
  }
  [[nodiscard]] double mean(double value) const {
    const auto& [sum, count] = groups_.at(group(value));
    return sum / static_cast<double>(count);
  }

 private:
  static int group(double value) { return value == 0 || !std::isfinite(value) ? -10'000 : std::ilogb(value) / 4; }
  std::map<int, std::pair<double, std::uint64_t>> groups_;
};

}  // namespace

RoundingReplay::RoundingReplay(const graph::Graph& graph, const std::vector<Runs>& inputs, Evaluators evaluators,
                               RoundingOptions options)
    : evaluators_(std::move(evaluators)),
      options_(options),
      plain_(graph, plain_of(inputs), evaluators_.plain),
      wide_(replays_of(graph, inputs, evaluators_.wide)) {}

std::vector<Runs> RoundingReplay::step() {
  const graph::Node& node = next();
  const Steps steps = options_.decide_alike ? steps_of(node) : Steps::kNone;
  const auto exact = wide_.empty() ? std::nullopt : plain_.results_with(evaluators_.wide);
  const Values plain = plain_.step();
  std::vector<Values> wide;
  for (GraphReplay& replay : wide_) wide.push_back(replay.step());
  ++steps_;
  std::vector<Runs> results(plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    results[i].plain = plain[i];
    if (!plain[i]) {
      for (GraphReplay& replay : wide_) replay.forget(node.result(i));
      continue;
    }
    const bool whole = !rounds(plain[i]->type.dtype);
    std::optional<Roundings> roundings;
    if (!whole && !wide_.empty()) roundings.emplace(*plain[i], exact ? std::optional((*exact)[i]) : std::nullopt);
    for (std::size_t run = 0; run < wide_.size(); ++run) {
      const std::uint64_t stream = run == 0 ? 0 : (steps_ * 64 + i) * kRuns + run;
      WideResult one = whole ? whole_result(*plain[i], wide[run][i], options_.decide_alike)
                             : rounded_result(*roundings, *plain[i], wide[run][i], steps, stream);
      if (one.decided_otherwise > 0) {
        note(node, one.decided_otherwise, static_cast<std::uint64_t>(graph::element_count(plain[i]->type.shape)));
      }
      wide_[run].put(node.result(i), one.value);
      results[i].wide.push_back(std::move(one.value));
    }
  }
  return results;
}

void RoundingReplay::note(const graph::Node& node, std::uint64_t elements, std::uint64_t of) {
  const std::string name = node.qualified_name();
  for (CloseDecision& known : decisions_) {
    if (known.op != name || known.location != node.location()) continue;
    known.elements = std::max(known.elements, elements);
    return;
  }
  decisions_.push_back({name, node.location(), elements, of});
}

Runs RoundingReplay::output(std::size_t index) const {
  Runs runs{plain_.output(index)};
  for (const GraphReplay& replay : wide_) {
    auto value = replay.output(index);
    if (!value) return {runs.plain};
    runs.wide.push_back(std::move(*value));
  }
  return runs;
}

RoundingLimits rounding_limits(const Runs& runs) {
  RoundingLimits limits;
  if (!runs.plain || runs.wide.empty()) return limits;
  const std::vector<double> exact = as_doubles(runs.wide[0]);
  if (!rounds(runs.plain->type.dtype)) {
    limits.slack.assign(exact.size(), 0);
    return limits;
  }
  std::vector<double> squares(exact.size(), 0);
  const auto add = [&](const std::vector<double>& run) {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double off = run[i] - exact[i];
      if (std::isfinite(off)) squares[i] += off * off / kRuns;
    }
  };
  add(as_doubles(*runs.plain));
  for (std::size_t run = 1; run < runs.wide.size(); ++run) add(as_doubles(runs.wide[run]));
  BySize groups;
  for (std::size_t i = 0; i < exact.size(); ++i) groups.add(exact[i], squares[i]);
  const double size = typical_size(runs.wide[0]);
  double sum = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double square = std::max(squares[i], groups.mean(exact[i]));
    sum += square;
    const double most = std::isfinite(exact[i]) ? kMost * (std::abs(exact[i]) + size) : 0;
    limits.slack.push_back(std::min(kMargin * std::sqrt(square), most));
  }
  // The more elements, the less is chance.
  const auto count = static_cast<double>(std::max<std::size_t>(exact.size(), 1));
  limits.norm = (4 + 12 / std::sqrt(count)) * std::sqrt(sum);
  limits.typical = std::sqrt(sum / count);
  return limits;
}

}  // namespace leapp::exporter
