// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot/guard_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "runtime/pipeline/elements.h"
#include "runtime/robot/guard_limits.h"

namespace leapp::runtime {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Steps of exactly the rate must pass, whatever the rounding of the values has made of their difference.
double slack(DType dtype, double value, double last) noexcept {
  const double unit = dtype == DType::kFloat64    ? 0x1p-52
                      : dtype == DType::kFloat32  ? 0x1p-23
                      : dtype == DType::kFloat16  ? 0x1p-10
                      : dtype == DType::kBFloat16 ? 0x1p-7
                                                  : 0;
  return 2 * unit * std::max(std::abs(value), std::abs(last));
}

const char* action_text(GuardAction action) {
  switch (action) {
    case GuardAction::kPass:
      return "passed";
    case GuardAction::kClamp:
      return "clamped to";
    case GuardAction::kHold:
      return "held at";
    case GuardAction::kFail:
      break;
  }
  return "the step is refused";
}

}  // namespace

Result<std::unique_ptr<GuardSet>> GuardSet::make(GuardRules rules, std::vector<Port> ports,
                                                 const std::vector<GuardedPlace>& places) {
  std::unique_ptr<GuardSet> set(new GuardSet);
  set->ports_.reserve(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(GuardedPort port, guarded_port(rules[i], std::move(ports[i])));
    port.place = places[i];
    set->add(std::move(port));
  }
  set->rules_ = std::move(rules);
  set->forget();
  return set;
}

template <typename Number>
simd::Watched<Number> GuardSet::watched(GuardedPort& port) const {
  const auto numbers = [](const std::byte* bytes) { return reinterpret_cast<const Number*>(bytes); };
  simd::Watched<Number> found;
  for (const std::size_t parity : {0U, 1U}) {
    found.from[parity] = numbers(port.place.from[parity]);
    found.state[parity] = numbers(port.place.last[parity]);
  }
  found.table = reinterpret_cast<Number*>(port.table.data());
  found.size = static_cast<std::uint32_t>(port.rates.size());
  found.limited = port.limited;
  found.uniform = port.uniform;
  if (port.uniform && found.size > 0) {
    found.lower = *numbers(port.lower());
    found.upper = *numbers(port.upper());
    found.rate = *numbers(port.rate());
  }
  found.keeps = port.keeps && !port.is_state();
  found.settle();
  return found;
}

void GuardSet::add(GuardedPort port) {
  Group& group = port.port.role == PortRole::kInput ? inputs_ : results_;
  const std::size_t at = ports_.size();
  group.ports.push_back(at);
  ports_.push_back(std::move(port));
  GuardedPort& added = ports_.back();
  if (added.port.dtype == DType::kFloat32) {
    entries_.push_back({&group, group.floats.size()});
    group.floats.push_back(watched<float>(added));
  } else if (added.port.dtype == DType::kFloat64) {
    entries_.push_back({&group, group.doubles.size()});
    group.doubles.push_back(watched<double>(added));
  } else {
    entries_.push_back({&group, group.others.size()});
    group.others.push_back(at);
  }
}

void GuardSet::move_to(std::size_t at, const GuardedPlace& place) noexcept {
  GuardedPort& port = ports_[at];
  port.place = place;
  const Entry entry = entries_[at];
  if (port.port.dtype == DType::kFloat32) entry.group->floats[entry.at] = watched<float>(port);
  if (port.port.dtype == DType::kFloat64) entry.group->doubles[entry.at] = watched<double>(port);
}

double GuardSet::apply(GuardEvent event, double last, double nearest) noexcept {
  // Nothing to hold: there is no value that anybody has found good.
  if (event.action == GuardAction::kHold && !std::isfinite(last)) event.action = GuardAction::kFail;
  event.became = event.found;
  if (event.action == GuardAction::kHold) event.became = last;
  if (event.action == GuardAction::kClamp) event.became = nearest;
  if (event.action == GuardAction::kFail && !refused_) {
    refused_ = true;
    culprit_ = event;
  }
  if (count_ < events_.size()) events_[count_] = event;
  ++count_;
  return event.became;
}

double GuardSet::guard(GuardEvent event, const GuardedPort& port, double value, double last) noexcept {
  const std::size_t i = event.element;
  const DType dtype = port.port.dtype;
  event.found = value;
  if (!std::isfinite(value)) {
    event.cause = GuardCause::kNonFinite;
    event.action = port.non_finite;
    return apply(event, last, value);
  }
  const double lower = load_element(dtype, port.lower(), i);
  const double upper = load_element(dtype, port.upper(), i);
  if (value < lower || value > upper) {
    event.cause = value < lower ? GuardCause::kBelow : GuardCause::kAbove;
    event.action = port.bounds;
    event.limit = value < lower ? lower : upper;
    value = apply(event, last, event.limit);
  }
  const double change = value - last;
  if (std::isfinite(last) && std::abs(change) > port.rates[i] + slack(dtype, value, last)) {
    event.cause = GuardCause::kRate;
    event.action = port.rate_action;
    event.found = value;
    event.limit = port.rates[i];
    value = apply(event, last, last + std::copysign(port.rates[i], change));
  }
  return value;
}

bool GuardSet::is_clean(std::size_t at, simd::Turn turn) const noexcept {
  const Entry entry = entries_[at];
  const DType dtype = ports_[at].port.dtype;
  if (dtype == DType::kFloat32) return floats_within_({&entry.group->floats[entry.at], 1}, turn);
  return dtype == DType::kFloat64 && doubles_within_({&entry.group->doubles[entry.at], 1}, turn);
}

// Also of what is all well: what is kept has to be written, and of whole numbers there is no quicker look.
void GuardSet::check_elements(std::size_t at, unsigned parity) noexcept {
  GuardedPort& port = ports_[at];
  const std::byte* values = port.place.from[parity];
  const std::byte* last = port.is_state() ? port.place.last[parity] : port.kept(turn_);
  const bool known = port.has_last || port.is_state();
  const bool keeps = port.keeps && !port.is_state();
  const DType dtype = port.port.dtype;
  const std::size_t width = dtype_size(dtype);
  for (std::size_t i = 0; i < port.rates.size(); ++i) {
    const double value = load_element(dtype, values, i);
    const double before = known ? load_element(dtype, last, i) : kNaN;
    const GuardEvent event{.port = static_cast<std::uint32_t>(at), .element = static_cast<std::uint32_t>(i)};
    const double became = guard(event, port, value, before);
    std::byte* const next = port.next.data() + i * width;
    if (became == value || (std::isnan(became) && std::isnan(value))) {
      std::memcpy(next, values + i * width, width);  // all of a large integer's digits
    } else {
      store_element(dtype, port.next.data(), i, became);
      port.dirty = true;
    }
    if (!keeps) continue;
    // What was passed although it is not finite is nothing to compare with.
    const bool good = std::isfinite(load_element(dtype, port.next.data(), i));
    std::memcpy(port.kept(1 - turn_) + i * width, good ? next : last + i * width, width);
  }
}

void GuardSet::check(Group& group, unsigned parity) noexcept {
  const simd::Turn turn{.parity = parity, .last = turn_};
  const bool clean =
      floats_within_(group.floats, turn) && (group.doubles.empty() || doubles_within_(group.doubles, turn));
  if (clean && group.others.empty() && !group.touched) [[likely]] {
    return;
  }
  for (const std::size_t at : group.ports) {
    ports_[at].dirty = false;
    if (!is_clean(at, turn)) check_elements(at, parity);
  }
  group.touched = !clean || !group.others.empty();
}

void GuardSet::write_dirty(const Group& group, unsigned parity) noexcept {
  for (const std::size_t at : group.ports) {
    const GuardedPort& port = ports_[at];
    if (port.dirty) std::memcpy(port.place.to[parity], port.next.data(), port.next.size());
  }
}

bool GuardSet::check_inputs() noexcept {
  count_ = 0;
  refused_ = false;
  check(inputs_, 0);
  if (refused_) [[unlikely]] {
    return false;
  }
  if (inputs_.touched) write_dirty(inputs_, 0);
  return true;
}

bool GuardSet::check_results(unsigned parity) noexcept {
  check(results_, parity);
  return !refused_;
}

void GuardSet::commit(unsigned parity) noexcept {
  if (results_.touched) write_dirty(results_, parity);
  turn_ = 1 - turn_;
  if (all_kept_) [[likely]] {
    return;
  }
  for (GuardedPort& port : ports_) port.has_last = port.has_last || (port.keeps && !port.is_state());
  all_kept_ = true;
}

std::span<const GuardEvent> GuardSet::events() const noexcept {
  return {events_.data(), std::min(count_, events_.size())};
}

std::string GuardSet::text(const GuardEvent& event) const {
  const Port& port = ports_[event.port].port;
  const std::string what =
      event.cause == GuardCause::kNonFinite ? fmt::format("{} is not finite", event.found)
      : event.cause == GuardCause::kBelow   ? fmt::format("{:.9g} is below {:.9g}", event.found, event.limit)
      : event.cause == GuardCause::kAbove
          ? fmt::format("{:.9g} is above {:.9g}", event.found, event.limit)
          : fmt::format("{:.9g} is more than {:.9g} from the step before", event.found, event.limit);
  const bool changed = event.action == GuardAction::kClamp || event.action == GuardAction::kHold;
  return fmt::format("{}{}: {}: {}{}", port.name, port.element_text(event.element), what, action_text(event.action),
                     changed ? fmt::format(" {:.9g}", event.became) : "");
}

Status GuardSet::error() const {
  if (!refused_) return {};
  const std::string more = count_ > 1 ? fmt::format(" ({} elements in all)", count_) : "";
  return failed_precondition(text(culprit_) + more);
}

Status GuardSet::set_last_good(std::string_view name, std::span<const double> values) {
  for (GuardedPort& port : ports_) {
    if (port.port.name != name || port.port.role == PortRole::kFeedback) continue;
    if (values.size() != port.rates.size()) {
      return invalid_argument(fmt::format("{}: expected {} values, found {}", name, port.rates.size(), values.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      return invalid_argument(
          fmt::format("{}{}: expected a finite number, found {}", name, port.port.element_text(i), values[i]));
    }
    for (const unsigned turn : {0U, 1U}) {
      for (std::size_t i = 0; i < values.size(); ++i) store_element(port.port.dtype, port.kept(turn), i, values[i]);
    }
    port.has_last = true;
    return {};
  }
  std::vector<std::string> names;
  for (const GuardedPort& port : ports_) {
    if (port.port.role != PortRole::kFeedback) names.push_back(port.port.name);
  }
  return not_found(fmt::format("there is no guard on an input or output {}; there are {}", quote(name),
                               names.empty() ? "none" : join(names, ", ")));
}

void GuardSet::forget() noexcept {
  all_kept_ = false;
  for (GuardedPort& port : ports_) {
    port.has_last = false;
    for (const unsigned turn : {0U, 1U}) {
      for (std::size_t i = 0; i < port.rates.size(); ++i) store_element(port.port.dtype, port.kept(turn), i, kNaN);
    }
  }
}

std::size_t GuardSet::memory_size() const noexcept {
  std::size_t size = 0;
  for (const GuardedPort& port : ports_) size += 1 + port.bytes();
  return size;
}

void GuardSet::save_memory(std::byte* to) const noexcept {
  for (const GuardedPort& port : ports_) {
    *to++ = std::byte{port.has_last};
    to = std::copy_n(port.kept(turn_), port.bytes(), to);
  }
}

void GuardSet::load_memory(const std::byte* from) noexcept {
  all_kept_ = false;
  for (GuardedPort& port : ports_) {
    port.has_last = *from++ != std::byte{0};
    for (const unsigned turn : {0U, 1U}) std::copy_n(from, port.bytes(), port.kept(turn));
    from += port.bytes();
  }
}

}  // namespace leapp::runtime
