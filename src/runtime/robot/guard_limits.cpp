// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot/guard_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.h"
#include "runtime/pipeline/elements.h"

namespace leapp::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// All the names along a port's axes, for messages.
std::string names_text(const Port& port) {
  std::vector<std::string> names;
  for (const bundle::AxisNames& axis : port.element_names) {
    if (axis) names.insert(names.end(), axis->begin(), axis->end());
  }
  return names.empty() ? fmt::format("no names; say [i,j] for a place in {}", type_text(port.dtype, port.shape))
                       : join(names, ", ");
}

/// "[0,3]": one element by its place.
std::optional<std::size_t> element_at(const Port& port, std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  const char* next = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  std::size_t element = 0;
  for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
    std::size_t place = 0;
    const auto [stop, error] = std::from_chars(next, end, place);
    if (error != std::errc() || place >= static_cast<std::size_t>(port.shape[axis])) return std::nullopt;
    element = element * static_cast<std::size_t>(port.shape[axis]) + place;
    const bool last = axis + 1 == port.shape.size();
    if (last ? stop != end : stop == end || *stop != ',') return std::nullopt;
    next = last ? stop : stop + 1;
  }
  return next == end ? std::optional(element) : std::nullopt;
}

/// Elements that have that name along an axis.
Result<std::vector<std::size_t>> elements_of(const Port& port, const std::string& name) {
  if (const auto element = element_at(port, name)) return std::vector<std::size_t>{*element};
  std::vector<std::size_t> found;
  std::size_t axes = 0;
  std::size_t inner = 1;
  for (std::size_t axis = port.shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(port.shape[axis]);
    const bundle::AxisNames& names = port.element_names[axis];
    if (names && std::find(names->begin(), names->end(), name) != names->end()) {
      ++axes;
      for (std::size_t i = 0; i < port.size(); ++i) {
        if ((*names)[i / inner % extent] == name) found.push_back(i);
      }
    }
    inner *= extent;
  }
  if (axes == 1) return found;
  return invalid_argument(fmt::format("{}: elements: {} {}; the port has {}", port.name, quote(name),
                                      axes == 0 ? "is not one of its elements" : "stands along several axes",
                                      names_text(port)));
}

Status check_limit(const std::string& where, const char* what, const std::optional<double>& limit, bool rate) {
  if (!limit || (std::isfinite(*limit) && (!rate || *limit > 0))) return {};
  return invalid_argument(
      fmt::format("{}: {}: expected a finite number{}, found {}", where, what, rate ? " above 0" : "", *limit));
}

Status check_limits(const std::string& where, const Port& port, const Limits& limits) {
  LEAPP_RETURN_IF_ERROR(check_limit(where, "lower", limits.lower, false));
  LEAPP_RETURN_IF_ERROR(check_limit(where, "upper", limits.upper, false));
  LEAPP_RETURN_IF_ERROR(check_limit(where, "per_step", limits.per_step, true));
  LEAPP_RETURN_IF_ERROR(check_limit(where, "per_second", limits.per_second, true));
  if (limits.per_second && !port.frequency) {
    return invalid_argument(fmt::format(
        "{}: per_second: {} needs the bundle's frequency, and pipeline.configs has none: give per_step, or export with "
        "GraphConfigs(frequency=...)",
        where, *limits.per_second));
  }
  if (port.dtype == DType::kBool && limits != Limits()) {
    return invalid_argument(fmt::format("{}: expected numbers to limit, found bool", where));
  }
  return {};
}

void override_with(const Limits& limits, Limits& all) {
  if (limits.lower) all.lower = limits.lower;
  if (limits.upper) all.upper = limits.upper;
  if (limits.per_step) all.per_step = limits.per_step;
  if (limits.per_second) all.per_second = limits.per_second;
}

bool is_whole(DType dtype) {
  return dtype != DType::kFloat16 && dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kBFloat16;
}

/// The largest number of a dtype; its negative is the least that a limit can be.
double largest(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.FEp127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

Status set_element(GuardedPort& guarded, std::size_t element, const Limits& limits) {
  const Port& port = guarded.port;
  const DType dtype = port.dtype;
  // An infinity is outside of every bound; see simd::Watched.
  double lower = std::max(limits.lower.value_or(-kInfinity), -largest(dtype));
  double upper = std::min(limits.upper.value_or(kInfinity), largest(dtype));
  if (is_whole(dtype)) {
    lower = std::ceil(lower);
    upper = std::floor(upper);
  }
  if (lower > upper) {
    return invalid_argument(fmt::format("{}{}: expected lower <= upper, found lower {} and upper {}", port.name,
                                        port.element_text(element), limits.lower.value_or(lower),
                                        limits.upper.value_or(upper)));
  }
  double rate = limits.per_step.value_or(kInfinity);
  if (limits.per_second) rate = std::min(rate, *limits.per_second / *port.frequency);
  store_element(dtype, guarded.part(2), element, lower);
  store_element(dtype, guarded.part(3), element, upper);
  guarded.rates[element] = rate;
  if (!is_whole(dtype)) store_element(dtype, guarded.part(4), element, rate);
  guarded.limited = guarded.limited || rate < kInfinity;
  return {};
}

}  // namespace

Result<GuardedPort> guarded_port(const PortGuard& rule, Port port) {
  if (rule.non_finite == GuardAction::kClamp) {
    return invalid_argument(
        fmt::format("{}: non_finite: expected pass, hold or fail, found clamp: no limit is close to NaN", port.name));
  }
  if (port.size() > std::numeric_limits<std::uint32_t>::max()) {
    return invalid_argument(fmt::format("{}: expected less than 2^32 elements, found {}", port.name, port.size()));
  }
  LEAPP_RETURN_IF_ERROR(check_limits(port.name, port, rule.all));
  std::vector<Limits> limits(port.size(), rule.all);
  std::set<std::string> seen;
  for (const auto& [name, own] : rule.elements) {
    if (!seen.insert(name).second) {
      return invalid_argument(fmt::format("{}: elements: {} is there twice", port.name, quote(name)));
    }
    LEAPP_ASSIGN_OR_RETURN(const std::vector<std::size_t> elements, elements_of(port, name));
    LEAPP_RETURN_IF_ERROR(check_limits(fmt::format("{}: elements: {}", port.name, name), port, own));
    for (const std::size_t element : elements) override_with(own, limits[element]);
  }
  GuardedPort guarded;
  guarded.non_finite = rule.non_finite;
  guarded.bounds = rule.bounds;
  guarded.rate_action = rule.rate;
  const std::size_t bytes = port.size() * dtype_size(port.dtype);
  guarded.table.resize(5 * CacheLines::round_up(bytes));
  guarded.next.resize(bytes);
  guarded.uniform = std::all_of(limits.begin(), limits.end(), [&](const Limits& one) { return one == limits.front(); });
  guarded.rates.resize(port.size());
  guarded.port = std::move(port);
  for (std::size_t i = 0; i < limits.size(); ++i) LEAPP_RETURN_IF_ERROR(set_element(guarded, i, limits[i]));
  guarded.keeps = guarded.limited || rule.non_finite == GuardAction::kHold || rule.bounds == GuardAction::kHold;
  return guarded;
}

}  // namespace leapp::runtime
