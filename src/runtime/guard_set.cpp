// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/guard_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "runtime/elements.h"
#include "runtime/guard_limits.h"

namespace leapp::runtime {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Whether all is well, without asking which: a comparison with NaN is false, and so is one of an infinity with the
// bounds, which are finite.
template <typename Element>
bool is_clean(const GuardedPort& port, const std::byte* values, const std::byte* last) noexcept {
  const auto* value = reinterpret_cast<const Element*>(values);
  const auto* lower = reinterpret_cast<const Element*>(port.lower.data());
  const auto* upper = reinterpret_cast<const Element*>(port.upper.data());
  const std::size_t size = port.rates.size();
  int bad = 0;
  for (std::size_t i = 0; i < size; ++i) bad |= static_cast<int>(!(value[i] >= lower[i])) | !(value[i] <= upper[i]);
  if (!port.limited) return bad == 0;
  const auto* rate = reinterpret_cast<const Element*>(port.rate.data());
  const auto* before = reinterpret_cast<const Element*>(last);
  for (std::size_t i = 0; i < size; ++i) bad |= static_cast<int>(!(std::abs(value[i] - before[i]) <= rate[i]));
  return bad == 0;
}

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
  for (std::size_t i = 0; i < rules.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(GuardedPort port, guarded_port(rules[i], std::move(ports[i])));
    port.place = places[i];
    (port.port.role == PortRole::kInput ? set->inputs_ : set->results_).push_back(i);
    set->ports_.push_back(std::move(port));
  }
  set->rules_ = std::move(rules);
  set->forget();
  return set;
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
  const double lower = load_element(dtype, port.lower.data(), i);
  const double upper = load_element(dtype, port.upper.data(), i);
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

bool GuardSet::check(std::size_t at, unsigned parity) noexcept {
  GuardedPort& port = ports_[at];
  const std::byte* values = port.place.from[parity];
  const std::byte* last = port.last_good(parity);
  const DType dtype = port.port.dtype;
  port.dirty = port.odd = false;
  if (dtype == DType::kFloat32 && is_clean<float>(port, values, last)) return true;
  if (dtype == DType::kFloat64 && is_clean<double>(port, values, last)) return true;
  const bool known = port.has_last || port.place.last[parity] != nullptr;
  for (std::size_t i = 0; i < port.rates.size(); ++i) {
    const double value = load_element(dtype, values, i);
    const double before = known ? load_element(dtype, last, i) : kNaN;
    const GuardEvent event{.port = static_cast<std::uint32_t>(at), .element = static_cast<std::uint32_t>(i)};
    const std::size_t width = dtype_size(dtype);
    const double became = guard(event, port, value, before);
    port.odd = port.odd || !std::isfinite(became);
    if (became == value || (std::isnan(became) && std::isnan(value))) {
      std::memcpy(port.next.data() + i * width, values + i * width, width);  // all of a large integer's digits
    } else {
      store_element(dtype, port.next.data(), i, became);
      port.dirty = true;
    }
  }
  return !refused_;
}

bool GuardSet::check_inputs() noexcept {
  count_ = 0;
  refused_ = false;
  for (const std::size_t at : inputs_) check(at, 0);
  if (refused_) [[unlikely]] {
    return false;
  }
  for (const std::size_t at : inputs_) {
    if (ports_[at].dirty) std::memcpy(ports_[at].place.to[0], ports_[at].next.data(), ports_[at].next.size());
  }
  return true;
}

bool GuardSet::check_results(unsigned parity) noexcept {
  for (const std::size_t at : results_) check(at, parity);
  return !refused_;
}

void GuardSet::commit(unsigned parity) noexcept {
  for (GuardedPort& port : ports_) {
    const bool state = port.place.last[parity] != nullptr;
    if (port.dirty && port.port.role != PortRole::kInput) {
      std::memcpy(port.place.to[parity], port.next.data(), port.next.size());
    }
    if (!port.keeps || state) continue;
    const std::byte* values = port.place.to[parity];
    const DType dtype = port.port.dtype;
    if (!port.odd) {
      std::memcpy(port.last.data(), values, port.last.size());
    } else {  // what was passed although it is not finite is nothing to compare with
      for (std::size_t i = 0; i < port.rates.size(); ++i) {
        const double value = load_element(dtype, values, i);
        if (std::isfinite(value)) store_element(dtype, port.last.data(), i, value);
      }
    }
    port.has_last = true;
  }
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
    for (std::size_t i = 0; i < values.size(); ++i) store_element(port.port.dtype, port.last.data(), i, values[i]);
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
  for (GuardedPort& port : ports_) {
    port.has_last = false;
    for (std::size_t i = 0; i < port.rates.size(); ++i) store_element(port.port.dtype, port.last.data(), i, kNaN);
  }
}

std::size_t GuardSet::memory_size() const noexcept {
  std::size_t size = 0;
  for (const GuardedPort& port : ports_) size += 1 + port.last.size();
  return size;
}

void GuardSet::save_memory(std::byte* to) const noexcept {
  for (const GuardedPort& port : ports_) {
    *to++ = std::byte{port.has_last};
    to = std::copy(port.last.begin(), port.last.end(), to);
  }
}

void GuardSet::load_memory(const std::byte* from) noexcept {
  for (GuardedPort& port : ports_) {
    port.has_last = *from++ != std::byte{0};
    std::copy_n(from, port.last.size(), port.last.begin());
    from += port.last.size();
  }
}

}  // namespace leapp::runtime
