// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "exporter/validate/interrupt.h"

namespace leapp::exporter {
namespace {

using Clock = std::chrono::steady_clock;

class Search {
 public:
  Search(const BisectRequest& request, Intermediates& model, const Evaluators& evaluators)
      : request_(request), model_(model), replay_(*request.graph, runs_of(request.inputs), used(request, evaluators)) {
    result_.operators = request.graph->nodes().size();
  }

  Bisection run() {
    auto at = request_.graph->nodes().begin();
    while (at != request_.graph->nodes().end()) {
      if (request_.progress) {
        request_.progress(fmt::format("{} of {} operators compared", result_.position, result_.operators));
      }
      const auto window = next_window(at);
      auto values = model_.compute(window);
      if (!values.ok()) return stopped(values.status().message());
      std::unordered_map<const graph::Value*, graph::Constant> exported;
      for (std::size_t i = 0; i < window.size(); ++i) {
        if (values.value()[i]) exported.emplace(window[i], *values.value()[i]);
      }
      while (!replay_.done() && &replay_.next() != (at == request_.graph->nodes().end() ? nullptr : at->get())) {
        if (out_of_time()) return stopped(fmt::format("gave up after {} s", request_.limits.time.count() / 1000));
        if (step(exported)) return result_;
      }
    }
    return conclude();
  }

 private:
  static std::vector<Runs> runs_of(const Values& values) {
    std::vector<Runs> runs;
    for (const auto& value : values) runs.push_back({value});
    return runs;
  }

  /// A tolerance of the user's decides alone: what rounding can do is not asked.
  static Evaluators used(const BisectRequest& request, Evaluators evaluators) {
    if (request.tolerance) evaluators.wide = nullptr;
    return evaluators;
  }

  [[nodiscard]] Difference difference_of(const graph::Constant& found, const Runs& expected) const {
    if (request_.tolerance) return measure(found, *expected.plain, *request_.tolerance);
    return measure(found, *expected.plain, near_tolerance(*expected.plain), rounding_limits(expected).slack);
  }

  bool out_of_time() const { return interrupted() || Clock::now() - start_ > request_.limits.time; }

  Bisection stopped(const std::string& why) {
    result_.outcome = Bisection::Outcome::kUnknown;
    result_.note = result_.position == 0 ? why
                                         : fmt::format("the first {} of {} operators agree; {}", result_.position,
                                                       result_.operators, why);
    return result_;
  }

  /// The values of the next operators, as many as may be held; at least those of one.
  std::vector<const graph::Value*> next_window(std::list<std::unique_ptr<graph::Node>>::const_iterator& at) const {
    std::vector<const graph::Value*> window;
    std::size_t bytes = 0;
    for (; at != request_.graph->nodes().end(); ++at) {
      std::size_t more = 0;
      for (const auto& result : (*at)->results()) more += byte_size(*result);
      if (!window.empty() && bytes + more > request_.limits.bytes) break;
      bytes += more;
      for (const auto& result : (*at)->results()) {
        if (byte_size(*result) > 0 && model_.has(*result)) window.push_back(result.get());
      }
    }
    return window;
  }

  static std::size_t byte_size(const graph::Value& value) {
    return static_cast<std::size_t>(graph::element_count(value.shape())) * dtype_size(value.dtype());
  }

  /// True: this is where they part.
  bool step(const std::unordered_map<const graph::Value*, graph::Constant>& exported) {
    const graph::Node& node = replay_.next();
    const std::vector<Runs> results = replay_.step();
    ++result_.position;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto found = exported.find(node.result(i));
      if (found == exported.end() || !results[i].plain || !differs(found->second, results[i])) continue;
      result_.outcome = Bisection::Outcome::kFirst;
      result_.op = node.qualified_name();
      result_.location = node.location();
      return true;
    }
    return false;
  }

  bool differs(const graph::Constant& found, const Runs& runs) {
    const graph::Constant& expected = *runs.plain;
    if (found.type != expected.type) {
      result_.difference = fmt::format("expected {}, found {}", type_text(expected.type.dtype, expected.type.shape),
                                       type_text(found.type.dtype, found.type.shape));
      return true;
    }
    const Difference difference = difference_of(found, runs);
    const bool nan = request_.nan_is_wrong ? difference.has_nan() : difference.found.nans != difference.expected.nans;
    if (nan) {
      result_.difference = fmt::format("NaN in {} of {} elements of the exported model's, in {} of the program's",
                                       difference.found.nans, difference.elements, difference.expected.nans);
    } else if (difference.wrong > 0) {
      result_.difference = fmt::format("{} differ, |diff| max {:.6g}",
                                       share_text(difference.wrong, difference.elements), difference.max);
    }
    return nan || difference.wrong > 0;
  }

  /// All operators agree, and still an output does not.
  Bisection conclude() {
    bool compared = false;
    for (std::size_t i = 0; i < request_.recorded.size(); ++i) {
      const Runs captured = replay_.output(i);
      if (!captured.plain || !request_.recorded[i]) continue;
      compared = true;
      if (captured.plain->type != request_.recorded[i]->type) continue;
      const Difference difference = difference_of(*request_.recorded[i], captured);
      if (difference.agrees()) continue;
      result_.outcome = Bisection::Outcome::kSame;
      return result_;
    }
    result_.outcome = compared ? Bisection::Outcome::kHidden : Bisection::Outcome::kUnknown;
    if (!compared) result_.note = "no output could be computed again";
    return result_;
  }

  const BisectRequest& request_;
  Intermediates& model_;
  RoundingReplay replay_;
  Clock::time_point start_ = Clock::now();
  Bisection result_;
};

}  // namespace

Bisection bisect(const BisectRequest& request, Intermediates& model, const Evaluators& evaluators) {
  return Search(request, model, evaluators).run();
}

}  // namespace leapp::exporter
