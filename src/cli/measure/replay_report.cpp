// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/console/table.h"
#include "inspect/words.h"

namespace leapp::cli {

void ReplayReport::add(std::size_t port, std::size_t step, const TensorDifference& found, std::string element) {
  Port& one = ports_[port];
  one.largest = std::max(one.largest, found.largest);
  one.count += found.count;
  if (!found.first) return;
  if (!one.first_step) one.first_step = step;
  // Ports come in the order in which nodes run, but a step's feedback inputs before all else.
  const bool earlier = !first_ || step < first_->step || (step == first_->step && port < first_->port);
  if (earlier) first_ = {port, step, std::move(element), *found.first};
}

std::string ReplayReport::tolerance_text() const {
  return tolerance_ ? fmt::format("rtol {:g}, atol {:g}", tolerance_->rtol, tolerance_->atol) : "to the last bit";
}

std::string ReplayReport::text(const Context& context, std::size_t steps) const {
  Table table({{"port"}, {"max |diff|", true}, {"first step", true}, {"elements", true}});
  for (const Port& port : ports_) {
    if (port.largest == 0 && port.count == 0) continue;
    table.add({port.name, fmt::format("{:.3g}", port.largest), port.first_step ? std::to_string(*port.first_step) : "",
               count_text(port.count)},
              port.count > 0 ? Style::kRed : Style::kPlain);
  }
  std::string text;
  if (first_) {
    text = context.styled("differs", Style::kRed) +
           fmt::format(" from {}: first in step {}, {}{}: expected {}, found {}\n", one_line(file_), first_->step,
                       one_line(ports_[first_->port].name), one_line(first_->element), first_->difference.expected,
                       first_->difference.found);
  } else {
    text = context.styled("agrees", Style::kGreen) + fmt::format(" with {}: {} over {}, {}\n", one_line(file_),
                                                                 plural(ports_.size(), "port"), plural(steps, "step"),
                                                                 tolerance_text());
  }
  if (!table.empty()) text += table.text(context, 2);
  return text;
}

Json ReplayReport::json(std::size_t steps) const {
  Json ports = Json::array();
  for (const Port& port : ports_) {
    ports.push_back({{"port", port.name},
                     {"max_abs_diff", port.largest},
                     {"elements_outside", port.count},
                     {"first_step", port.first_step ? Json(*port.first_step) : Json(nullptr)}});
  }
  Json first = nullptr;
  if (first_) {
    first = {{"step", first_->step},
             {"port", ports_[first_->port].name},
             {"element", first_->difference.element},
             {"expected", first_->difference.expected},
             {"found", first_->difference.found}};
  }
  const auto number = [&](double Tolerance::*which) { return tolerance_ ? Json((*tolerance_).*which) : Json(nullptr); };
  return {{"file", file_},
          {"agrees", agrees()},
          {"steps", steps},
          {"rtol", number(&Tolerance::rtol)},
          {"atol", number(&Tolerance::atol)},
          {"first_difference", first},
          {"ports", ports}};
}

}  // namespace leapp::cli
