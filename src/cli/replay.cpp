// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "cli/table.h"
#include "cli/words.h"

namespace leapp::cli {

Result<Replay> Replay::open(const std::string& file, const std::vector<TracedPort>& ports, const Tolerance& tolerance) {
  Replay replay(ports);
  replay.file_ = file;
  replay.tolerance_ = tolerance;
  const auto find = [&](const std::string& name) -> Result<const ArrayType*> {
    for (const TracedPort& port : ports) {
      if (port.type.name == name) return &port.type;
    }
    return not_found(
        fmt::format("{} is no port of this bundle: expected a trace of it, as --trace writes one", quote(name)));
  };
  LEAPP_ASSIGN_OR_RETURN(std::vector<Series> all, read_series(file, {.find = find}));
  for (Series& series : all) {
    if (series.held || (replay.steps_ != 0 && series.steps != replay.steps_) || series.steps == 0) {
      return data_loss(fmt::format("{}: {}: expected as many steps as the other ports have, found {}", file,
                                   series.type->name, series.held ? "none" : std::to_string(series.steps)));
    }
    replay.steps_ = series.steps;
    const auto at =
        std::find_if(ports.begin(), ports.end(), [&](const auto& port) { return &port.type == series.type; });
    replay.ports_[static_cast<std::size_t>(at - ports.begin())].series = std::move(series);
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].where != TracedPort::Where::kOutput && !replay.ports_[i].series) {
      return not_found(fmt::format("{}: expected values for {}, found none", file, ports[i].type.name));
    }
  }
  return replay;
}

Status Replay::set_state(runtime::Pipeline& pipeline) const {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if ((*traced_)[i].where != TracedPort::Where::kFeedback) continue;
    LEAPP_ASSIGN_OR_RETURN(const TensorView view, value_of((*traced_)[i], pipeline));
    const auto bytes = ports_[i].series->step(0);
    if (!bytes.empty()) std::memcpy(view.data, bytes.data(), bytes.size());
  }
  return {};
}

void Replay::compare(std::size_t port, std::size_t step, const TensorView& value) {
  Port& one = ports_[port];
  if (!one.series) return;
  const TensorDifference found = cli::compare(value, one.series->step(step), tolerance_);
  one.largest = std::max(one.largest, found.largest);
  one.count += found.count;
  if (!found.first) return;
  if (!one.first_step) one.first_step = step;
  // Ports come in the order in which nodes run, but a step's feedback inputs before all else.
  const bool earlier = !first_ || step < first_->step || (step == first_->step && port < first_->port);
  if (earlier) first_ = {port, step, *found.first};
}

std::string Replay::text(const Context& context) const {
  std::size_t compared = 0;
  Table table({{"port"}, {"max |diff|", true}, {"first step", true}, {"elements", true}});
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const Port& port = ports_[i];
    if (!port.series) continue;
    ++compared;
    if (port.largest == 0 && port.count == 0) continue;
    table.add({(*traced_)[i].type.name, fmt::format("{:.3g}", port.largest),
               port.first_step ? std::to_string(*port.first_step) : "", count_text(port.count)},
              port.count > 0 ? Style::kRed : Style::kPlain);
  }
  std::string text;
  if (first_) {
    text = context.styled("differs", Style::kRed) +
           fmt::format(" from {}: first in step {}, {}[{}]: expected {}, found {}\n", one_line(file_), first_->step,
                       one_line((*traced_)[first_->port].type.name), first_->element.element, first_->element.expected,
                       first_->element.found);
  } else {
    text = context.styled("agrees", Style::kGreen) +
           fmt::format(" with {}: {} over {}, rtol {:g}, atol {:g}\n", one_line(file_), plural(compared, "port"),
                       plural(steps_, "step"), tolerance_.rtol, tolerance_.atol);
  }
  if (!table.empty()) text += table.text(context, 2);
  return text;
}

Json Replay::json() const {
  Json ports = Json::array();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const Port& port = ports_[i];
    if (!port.series) continue;
    ports.push_back({{"port", (*traced_)[i].type.name},
                     {"max_abs_diff", port.largest},
                     {"elements_outside", port.count},
                     {"first_step", port.first_step ? Json(*port.first_step) : Json(nullptr)}});
  }
  Json first = nullptr;
  if (first_) {
    first = {{"step", first_->step},
             {"port", (*traced_)[first_->port].type.name},
             {"element", first_->element.element},
             {"expected", first_->element.expected},
             {"found", first_->element.found}};
  }
  return {{"file", file_},           {"agrees", agrees()},        {"steps", steps_}, {"rtol", tolerance_.rtol},
          {"atol", tolerance_.atol}, {"first_difference", first}, {"ports", ports}};
}

}  // namespace leapp::cli
