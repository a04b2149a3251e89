// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/replay.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "runtime/pipeline/budget.h"

namespace leapp::cli {

Result<TraceReplay> TraceReplay::open(const std::vector<TracedPort>& ports, const ReplayOptions& options) {
  const std::string& file = options.file;
  TraceReplay replay(ports, options);
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < ports.size(); ++i) places.emplace(ports[i].type.name, i);
  const auto find = [&](const std::string& name) -> Result<const ArrayType*> {
    if (const auto found = places.find(name); found != places.end()) return &ports[found->second].type;
    return not_found(fmt::format("{} is not a port of this bundle: expected a trace of it, as --trace writes one",
                                 quote_brief(name)));
  };
  LEAPP_ASSIGN_OR_RETURN(
      std::vector<Series> all,
      read_series(file, {.find = find, .memory_limit = runtime::memory_limit_of(options.memory_limit)}));
  for (Series& series : all) {
    if (series.held || (replay.steps_ != 0 && series.steps != replay.steps_) || series.steps == 0) {
      return data_loss(fmt::format("{}: {}: expected as many steps as the other ports have, found {}", file,
                                   series.type->name, series.held ? "none" : std::to_string(series.steps)));
    }
    replay.steps_ = series.steps;
    const std::size_t at = places.at(series.type->name);
    replay.ports_[at].series = std::move(series);
  }
  std::size_t reported = 0;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].where != TracedPort::Where::kOutput && !replay.ports_[i].series) {
      return not_found(fmt::format("{}: expected values for {}, found none", file, ports[i].type.name));
    }
    if (!replay.ports_[i].series) continue;
    replay.ports_[i].reported = reported++;
    replay.report_.add_port(ports[i].type.name);
  }
  return replay;
}

Status TraceReplay::set_state(runtime::Pipeline& pipeline) const {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if ((*traced_)[i].where != TracedPort::Where::kFeedback) continue;
    LEAPP_ASSIGN_OR_RETURN(const TensorView view, value_of((*traced_)[i], pipeline));
    const auto bytes = ports_[i].series->step(0);
    if (!bytes.empty()) std::memcpy(view.data, bytes.data(), bytes.size());
  }
  return {};
}

void TraceReplay::compare(std::size_t port, std::size_t step, const TensorView& value) {
  const Port& one = ports_[port];
  if (!one.series) return;
  const TensorDifference found = cli::compare(value, one.series->step(step), tolerance_);
  report_.add(one.reported, step, found, found.first ? fmt::format("[{}]", found.first->element) : "");
}

Json TraceReplay::json() const { return report_.json(steps_); }

}  // namespace leapp::cli
