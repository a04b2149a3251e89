// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/name_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>

#include "base/text.h"
#include "runtime/pipeline/elements.h"
#include "runtime/simd/port_simd.h"

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

/// Tables of one direction. What every step needs of them comes first, in one line of the cache.
struct alignas(64) Direction {
  void allocate(std::size_t size, bool converts) {
    lines.resize(kSpreadLines + 2 * size * sizeof(double) / sizeof(Line) + 1);
    places.resize(size);
    mapping.size = static_cast<std::uint32_t>(size);
    mapping.places = places.data();
    mapping.numbers = converts ? numbers() : nullptr;
  }

  void set(std::size_t to, std::size_t from, double factor, double offset) {
    places[to] = static_cast<std::int32_t>(from);
    numbers()[to] = factor;
    numbers()[mapping.size + to] = offset;
  }

  /// Everything is set.
  void finish(simd::MapFloats (*find)(const simd::Mapping&) noexcept) {
    constexpr std::size_t kRoom = simd::Mapping::kSpread;
    simd::spread(mapping, std::span<double, kRoom>(lines.front().numbers.data(), kRoom));
    map = find(mapping);
  }

  bool operator==(const Direction& other) const {
    const bool same = mapping.rows == other.mapping.rows && map == other.map && places == other.places;
    return same && (mapping.numbers == nullptr || lines == other.lines);
  }

  simd::Mapping mapping;  ///< of the vectors below, which stay where they are
  simd::MapFloats map = nullptr;

 private:
  struct alignas(64) Line {
    std::array<double, 8> numbers{};
    bool operator==(const Line&) const = default;
  };
  static constexpr std::size_t kSpreadLines = simd::Mapping::kSpread * sizeof(double) / sizeof(Line);
  [[nodiscard]] double* numbers() { return lines[kSpreadLines].numbers.data(); }

  std::vector<std::int32_t> places;
  std::vector<Line> lines;
};

/// Calls f with where to write, where to read, and the entry of the tables.
template <typename Call>
void for_each_element(const simd::Mapping& mapping, Call f) {
  for (std::size_t row = 0; row < mapping.rows; ++row) {
    const std::size_t first = row * mapping.size;
    for (std::size_t i = 0; i < mapping.size; ++i) f(first + i, first + static_cast<std::size_t>(mapping.places[i]), i);
  }
}

bool converts(const Conversion& conversion, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (at(conversion.sign, i, 1) * at(conversion.scale, i, 1) != 1 || at(conversion.offset, i, 0) != 0) return true;
  }
  return false;
}

}  // namespace

/// What is along the axis, with all that is inside of it, is a row; rows follow one another and are all the same.
struct __attribute__((visibility("hidden"))) NameMap::Tables {
  static std::shared_ptr<const Tables> make(const Port& port, std::size_t axis, std::span<const std::size_t> order,
                                            const Conversion& conversion);
  /// The same tables if some map has them already: a robot's joints have one order, whatever is measured of them.
  static std::shared_ptr<const Tables> share(std::shared_ptr<const Tables> tables);

  Direction put;   ///< the robot's array to the port
  Direction take;  ///< the port to the robot's array
};

std::shared_ptr<const NameMap::Tables> NameMap::Tables::make(const Port& port, std::size_t axis,
                                                             std::span<const std::size_t> order,
                                                             const Conversion& conversion) {
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < port.shape.size(); ++i) inner *= static_cast<std::size_t>(port.shape[i]);
  const std::size_t size = order.size() * inner;
  auto tables = std::make_shared<Tables>();
  for (Direction* direction : {&tables->put, &tables->take}) {
    direction->allocate(size, converts(conversion, order.size()));
    direction->mapping.rows = static_cast<std::uint32_t>(size == 0 ? 0 : port.size() / size);
  }
  for (std::size_t robot = 0; robot < size; ++robot) {
    const std::size_t name = robot / inner;
    const std::size_t ours = order[name] * inner + robot % inner;
    const double factor = at(conversion.sign, name, 1) * at(conversion.scale, name, 1);
    const double offset = at(conversion.offset, name, 0);
    tables->put.set(ours, robot, factor, offset);
    tables->take.set(robot, ours, 1 / factor, offset);
  }
  tables->put.finish(&simd::forward_map);
  tables->take.finish(&simd::backward_map);
  return share(std::move(tables));
}

std::shared_ptr<const NameMap::Tables> NameMap::Tables::share(std::shared_ptr<const Tables> tables) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<const Tables>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& one) { return one.expired(); });
  for (const auto& one : known) {
    const std::shared_ptr<const Tables> found = one.lock();
    // Of either direction: the other follows from it.
    if (found && found->put == tables->put) return found;
  }
  known.push_back(tables);
  return tables;
}

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
  if (port.size() > std::numeric_limits<std::int32_t>::max()) {
    return invalid_argument(fmt::format("{}: expected less than 2^31 elements, found {}", where, port.size()));
  }
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::size_t> order, match(where, *names, robot_names));
  LEAPP_RETURN_IF_ERROR(check_conversion(where, conversion, robot_names));
  NameMap map;
  map.data_ = port.data;
  map.size_ = port.size();
  map.output_ = port.role == PortRole::kOutput;
  map.dtype_ = port.dtype;
  map.tables_ = Tables::make(port, along, order, conversion);
  return map;
}

template <typename Number>
bool NameMap::put(void* port, std::span<const Number> robot) const noexcept {
  if (port == nullptr || robot.size() != size_) return false;
  if constexpr (std::is_same_v<Number, float>) {
    if (dtype_ == DType::kFloat32) {
      tables_->put.map(tables_->put.mapping, robot.data(), static_cast<float*>(port));
      return true;
    }
  }
  const simd::Mapping& mapping = tables_->put.mapping;
  const double* factors = mapping.numbers;
  const double* offsets = factors + mapping.size;
  with_element(dtype_, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    auto* const to = static_cast<Element*>(port);
    for_each_element(mapping, [&](std::size_t i, std::size_t from, std::size_t entry) {
      const auto number = static_cast<double>(robot[from]);
      const bool as_it_is = mapping.numbers == nullptr;
      to[i] = from_number<Element>(as_it_is ? number : number * factors[entry] + offsets[entry]);
    });
  });
  return true;
}

template <typename Number>
bool NameMap::take(const void* port, std::span<Number> robot) const noexcept {
  if (port == nullptr || robot.size() != size_) return false;
  if constexpr (std::is_same_v<Number, float>) {
    if (dtype_ == DType::kFloat32) {
      tables_->take.map(tables_->take.mapping, static_cast<const float*>(port), robot.data());
      return true;
    }
  }
  const simd::Mapping& mapping = tables_->take.mapping;
  const double* factors = mapping.numbers;
  const double* offsets = factors + mapping.size;
  with_element(dtype_, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    const auto* const from = static_cast<const Element*>(port);
    for_each_element(mapping, [&](std::size_t i, std::size_t place, std::size_t entry) {
      const double number = to_number(from[place]);
      const bool as_it_is = mapping.numbers == nullptr;
      robot[i] = static_cast<Number>(as_it_is ? number : (number - offsets[entry]) * factors[entry]);
    });
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
