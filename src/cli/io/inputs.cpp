// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/inputs.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "runtime/pipeline/budget.h"

namespace leapp::cli {
namespace {

/// Knows what a name in a file of inputs means.
class Names {
 public:
  explicit Names(const std::vector<TracedPort>& ports) : ports_(ports) {
    for (const TracedPort& port : ports) {
      const bool input = port.where == TracedPort::Where::kInput;
      known_.emplace(port.type.name, input ? &port.type : nullptr);
      if (!input) continue;
      const std::string& whole = port.seen_as;
      known_.emplace(whole, &port.type);
      if (whole.ends_with("_in")) known_.emplace(whole.substr(0, whole.size() - 3), &port.type);
      plain_[whole.substr(whole.find('/') + 1)].push_back(&port);
    }
  }

  [[nodiscard]] Result<const ArrayType*> find(const std::string& name) const {
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    const auto plain = plain_.find(name);
    if (plain == plain_.end()) {
      return not_found(fmt::format("there is no input {}; there are {}", quote_brief(name), all()));
    }
    const std::vector<const TracedPort*>& inputs = plain->second;
    if (inputs.size() == 1) return &inputs.front()->type;
    return not_found(fmt::format("{} may be {} or {}", quote_brief(name), inputs[0]->seen_as, inputs[1]->seen_as));
  }

 private:
  [[nodiscard]] std::string all() const {
    std::vector<std::string> names;
    for (const TracedPort& port : ports_) {
      if (port.where == TracedPort::Where::kInput) names.push_back(port.seen_as);
    }
    return names.empty() ? "none" : join(names, ", ");
  }

  const std::vector<TracedPort>& ports_;
  std::unordered_map<std::string, const ArrayType*> known_;  ///< with their nodes; null: no input
  std::unordered_map<std::string, std::vector<const TracedPort*>> plain_;
};

}  // namespace

Result<InputSource> InputSource::open(runtime::Pipeline& pipeline, const std::vector<TracedPort>& ports,
                                      const InputOptions& options) {
  InputSource source;
  std::vector<Series> all;
  if (!options.file.empty()) {
    const Names names(ports);
    LEAPP_ASSIGN_OR_RETURN(all,
                           read_series(options.file, {.find = [&](const std::string& name) { return names.find(name); },
                                                      .cast = options.cast,
                                                      .memory_limit = runtime::memory_limit_of(options.memory_limit)}));
  }
  std::unordered_map<const ArrayType*, Series*> series;
  for (Series& one : all) series.emplace(one.type, &one);
  const Series* longest = nullptr;
  for (const TracedPort& port : ports) {
    if (port.where != TracedPort::Where::kInput) continue;
    LEAPP_ASSIGN_OR_RETURN(const TensorView view, value_of(port, pipeline));
    if (options.file.empty()) {
      source.inputs_.push_back({view, std::nullopt, runtime::MockSource(options.seed, port.seen_as)});
      continue;
    }
    const auto given = series.find(&port.type);
    if (given == series.end()) {
      return not_found(fmt::format("{}: expected values for {}, found none", options.file, port.seen_as));
    }
    Series* const found = given->second;
    if (!found->held && longest != nullptr && found->steps != longest->steps) {
      return invalid_argument(fmt::format("{}: {} has {} steps, {} has {}", options.file, longest->type->name,
                                          longest->steps, port.type.name, found->steps));
    }
    source.inputs_.push_back({view, std::move(*found), std::nullopt});
    if (!source.inputs_.back().series->held) {
      source.steps_ = source.inputs_.back().series->steps;
      longest = found;  // only its type and its number of steps are looked at, which a move leaves
    }
  }
  return source;
}

void InputSource::feed(std::size_t step) {
  for (Fed& input : inputs_) {
    if (input.mock) {
      input.mock->fill(input.view);
      continue;
    }
    const auto bytes = input.series->step(step);
    if (!bytes.empty()) std::memcpy(input.view.data, bytes.data(), bytes.size());
  }
}

}  // namespace leapp::cli
