// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/name_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.h"
#include "runtime/elements.h"

namespace leapp::runtime {
namespace {

std::vector<std::string> twice(std::span<const std::string> names) {
  std::set<std::string> seen;
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (!seen.insert(name).second && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  return found;
}

std::vector<std::string> without(std::span<const std::string> names, std::span<const std::string> others) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (std::find(others.begin(), others.end(), name) == others.end()) found.push_back(name);
  }
  return found;
}

/// Of each of the robot's names its place along the port's axis; an error that lists both sides.
Result<std::vector<std::size_t>> match(const std::string& where, std::span<const std::string> ports,
                                       std::span<const std::string> robots) {
  std::string problems;
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", what, join(names, ", "));
  };
  add("the robot lacks", without(ports, robots));
  add("the port does not know", without(robots, ports));
  add("twice among the robot's", twice(robots));
  add("twice among the port's", twice(ports));
  if (!problems.empty()) {
    return invalid_argument(fmt::format("{}: {}. The port has {}: {}. The robot has {}: {}", where, problems,
                                        ports.size(), join(ports, ", "), robots.size(), join(robots, ", ")));
  }
  std::vector<std::size_t> order;
  for (const std::string& name : robots) {
    order.push_back(static_cast<std::size_t>(std::find(ports.begin(), ports.end(), name) - ports.begin()));
  }
  return order;
}

Status check_list(const std::string& where, const char* what, const std::vector<double>& numbers,
                  std::span<const std::string> names, const char* expected, bool (*good)(double)) {
  if (numbers.empty()) return {};
  if (numbers.size() != names.size()) {
    return invalid_argument(fmt::format("{}: {}: expected {} numbers, one for each of the robot's names ({}), found {}",
                                        where, what, names.size(), join(names, ", "), numbers.size()));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (good(numbers[i])) continue;
    return invalid_argument(
        fmt::format("{}: {} of {}: expected {}, found {}", where, what, names[i], expected, numbers[i]));
  }
  return {};
}

Status check_conversion(const std::string& where, const Conversion& conversion, std::span<const std::string> names) {
  LEAPP_RETURN_IF_ERROR(check_list(where, "scale", conversion.scale, names, "a finite number that is not 0",
                                   [](double x) { return std::isnormal(x); }));
  LEAPP_RETURN_IF_ERROR(check_list(where, "offset", conversion.offset, names, "a finite number",
                                   [](double x) { return std::isfinite(x); }));
  return check_list(where, "sign", conversion.sign, names, "1 or -1", [](double x) { return x == 1 || x == -1; });
}

double at(const std::vector<double>& numbers, std::size_t i, double otherwise) {
  return numbers.empty() ? otherwise : numbers[i];
}

}  // namespace

Result<NameMap> NameMap::make(const Port& port, int axis, std::span<const std::string> robot_names,
                              const Conversion& conversion) {
  const auto rank = static_cast<int>(port.shape.size());
  if (axis < -rank || axis >= rank) {
    return invalid_argument(fmt::format("{}: expected an axis from {} to {} of {}, found {}", port.name, -rank,
                                        rank - 1, type_text(port.dtype, port.shape), axis));
  }
  const auto along = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::string where = fmt::format("{}, axis {}", port.name, along);
  const bundle::AxisNames& names = port.element_names[along];
  if (!names) {
    return invalid_argument(fmt::format(
        "{} ({}): expected names in the bundle, found none; the robot has {}: {}. Names are given at export "
        "with TensorSemantics(element_names=...)",
        where, type_text(port.dtype, port.shape), robot_names.size(), join(robot_names, ", ")));
  }
  if (port.size() > std::numeric_limits<std::uint32_t>::max()) {
    return invalid_argument(fmt::format("{}: expected less than 2^32 elements, found {}", where, port.size()));
  }
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::size_t> order, match(where, *names, robot_names));
  LEAPP_RETURN_IF_ERROR(check_conversion(where, conversion, robot_names));
  NameMap map;
  map.data_ = port.data;
  map.output_ = port.role == PortRole::kOutput;
  map.dtype_ = port.dtype;
  map.lay_out(port, along, order, conversion);
  return map;
}

void NameMap::lay_out(const Port& port, std::size_t axis, std::span<const std::size_t> order,
                      const Conversion& conversion) {
  const std::size_t count = order.size();
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < port.shape.size(); ++i) inner *= static_cast<std::size_t>(port.shape[i]);
  const std::size_t size = port.size();
  places_.resize(size);
  inverse_.resize(size);
  for (std::vector<double>* numbers : {&factors_, &offsets_, &inverse_factors_, &inverse_offsets_}) {
    numbers->resize(size);
  }
  for (std::size_t robot = 0; robot < size; ++robot) {
    const std::size_t name = robot / inner % count;
    const std::size_t ours = robot / (inner * count) * (inner * count) + order[name] * inner + robot % inner;
    const double factor = at(conversion.sign, name, 1) * at(conversion.scale, name, 1);
    const double offset = at(conversion.offset, name, 0);
    places_[ours] = static_cast<std::uint32_t>(robot);
    inverse_[robot] = static_cast<std::uint32_t>(ours);
    factors_[ours] = factor;
    offsets_[ours] = offset;
    inverse_factors_[robot] = 1 / factor;
    inverse_offsets_[robot] = offset;
    converts_ = converts_ || factor != 1 || offset != 0;
  }
}

template <typename Number>
bool NameMap::put(void* port, std::span<const Number> robot) const noexcept {
  if (port == nullptr || robot.size() != places_.size()) return false;
  with_element(dtype_, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    auto* const to = static_cast<Element*>(port);
    const std::uint32_t* const from = places_.data();
    const std::size_t size = places_.size();
    if (converts_) {
      for (std::size_t i = 0; i < size; ++i) {
        to[i] = from_number<Element>(static_cast<double>(robot[from[i]]) * factors_[i] + offsets_[i]);
      }
    } else if constexpr (std::is_same_v<Element, Number>) {
      for (std::size_t i = 0; i < size; ++i) to[i] = robot[from[i]];
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = from_number<Element>(static_cast<double>(robot[from[i]]));
    }
  });
  return true;
}

template <typename Number>
bool NameMap::take(const void* port, std::span<Number> robot) const noexcept {
  if (port == nullptr || robot.size() != places_.size()) return false;
  with_element(dtype_, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    const auto* const from = static_cast<const Element*>(port);
    const std::uint32_t* const place = inverse_.data();
    const std::size_t size = places_.size();
    if (converts_) {
      for (std::size_t i = 0; i < size; ++i) {
        robot[i] = static_cast<Number>((to_number(from[place[i]]) - inverse_offsets_[i]) * inverse_factors_[i]);
      }
    } else if constexpr (std::is_same_v<Element, Number>) {
      for (std::size_t i = 0; i < size; ++i) robot[i] = from[place[i]];
    } else {
      for (std::size_t i = 0; i < size; ++i) robot[i] = static_cast<Number>(to_number(from[place[i]]));
    }
  });
  return true;
}

bool NameMap::write(std::span<const float> robot) noexcept { return !output_ && put(data_, robot); }
bool NameMap::write(std::span<const double> robot) noexcept { return !output_ && put(data_, robot); }
bool NameMap::read(std::span<float> robot) const noexcept { return take(data_, robot); }
bool NameMap::read(std::span<double> robot) const noexcept { return take(data_, robot); }
bool NameMap::write_to(void* port, std::span<const double> robot) const noexcept { return put(port, robot); }
bool NameMap::read_from(const void* port, std::span<double> robot) const noexcept { return take(port, robot); }

}  // namespace leapp::runtime
