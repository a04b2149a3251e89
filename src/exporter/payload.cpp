// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "leapp/bundle/port_entry.h"

namespace leapp {

const Nested& Nested::operator[](const std::string& key) const {
  const Map& map = std::get<Map>(data);
  const auto found = std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key; });
  if (found == map.end()) std::abort();
  return found->second;
}

}  // namespace leapp

namespace leapp::exporter {
namespace {

void flatten_value(const std::string& name, const Nested& value, FlatPayload& flat) {
  if (const auto* tensor = std::get_if<at::Tensor>(&value.data)) {
    flat.ports.push_back({name, *tensor, {}});
  } else if (const auto* list = std::get_if<Nested::List>(&value.data)) {
    for (std::size_t i = 0; i < list->size(); ++i) flatten_value(fmt::format("{}_{}", name, i), (*list)[i], flat);
  } else if (const auto* map = std::get_if<Nested::Map>(&value.data)) {
    for (const auto& [key, inner] : *map) flatten_value(fmt::format("{}_{}", name, key), inner, flat);
  } else if (const auto& other = std::get<Nested::Other>(value.data); !other.text.empty()) {
    flat.no_tensors.push_back(fmt::format("'{}' ({})", name, other.text));
  }
}

Nested rebuild_value(const Nested& value, std::vector<at::Tensor>::const_iterator& next) {
  if (std::holds_alternative<at::Tensor>(value.data)) return *next++;
  if (const auto* list = std::get_if<Nested::List>(&value.data)) {
    Nested::List items;
    for (const Nested& item : *list) items.push_back(rebuild_value(item, next));
    return items;
  }
  if (const auto* map = std::get_if<Nested::Map>(&value.data)) {
    Nested::Map items;
    for (const auto& [key, item] : *map) items.emplace_back(key, rebuild_value(item, next));
    return items;
  }
  return value;
}

Status check_extra(const std::string& where, const bundle::YamlMap& extra) {
  const std::vector<std::string_view> built_in = bundle::port_keys();
  std::set<std::string_view> seen;
  for (const auto& [key, value] : extra) {
    if (std::find(built_in.begin(), built_in.end(), key) != built_in.end()) {
      return invalid_argument(
          fmt::format("{}: extra has '{}', which is a field of every port; the built-in fields are "
                      "{}",
                      where, key, join(built_in, ", ")));
    }
    if (!seen.insert(key).second) return invalid_argument(fmt::format("{}: extra has '{}' twice", where, key));
  }
  return {};
}

/// Empty when the names fit the axes from `first` on, else what does not.
std::string misfit(const std::vector<bundle::AxisNames>& names, at::IntArrayRef shape, std::size_t first) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t size = shape[first + i];
    if (names[i] && static_cast<std::int64_t>(names[i]->size()) != size) {
      return fmt::format("axis {} has {} element{}, element_names has {}", first + i, size, size == 1 ? "" : "s",
                         names[i]->size());
    }
  }
  return "";
}

/// One entry per axis. Fewer entries are the first axes, or the last ones: [["x", "y", "z"]] fits [1, 3].
Status check_element_names(const std::string& where, const std::vector<bundle::AxisNames>& names,
                           at::IntArrayRef shape) {
  if (names.size() > shape.size()) {
    return invalid_argument(fmt::format("{}: element_names has {} axes, the tensor {} ({})", where, names.size(),
                                        shape.size(), shape_text(shape)));
  }
  const std::string last = misfit(names, shape, shape.size() - names.size());
  if (last.empty() || misfit(names, shape, 0).empty()) return {};
  return invalid_argument(fmt::format("{}: {} (the tensor is {})", where, last, shape_text(shape)));
}

}  // namespace

Status check_semantics(const std::string& where, const Semantics& semantics, at::IntArrayRef shape) {
  if (semantics.element_names) {
    LEAPP_RETURN_IF_ERROR(check_element_names(where, *semantics.element_names, shape));
  }
  if (semantics.temporal_axis) {
    const bundle::TemporalAxis& axis = *semantics.temporal_axis;
    if (axis.axis >= shape.size()) {
      return invalid_argument(
          fmt::format("{}: the temporal axis is axis {}, the tensor is {}", where, axis.axis, shape_text(shape)));
    }
    if (!(axis.period_ms > 0) || std::isinf(axis.period_ms)) {
      return invalid_argument(
          fmt::format("{}: expected a period_ms > 0 of the temporal axis, found {}", where, axis.period_ms));
    }
  }
  return check_extra(where, semantics.extra);
}

Result<FlatPayload> flatten(const std::string& node, const Payload& payload) {
  FlatPayload flat;
  for (const PortValue& port : payload) {
    const std::size_t first = flat.ports.size();
    flatten_value(port.name, port.value, flat);
    if (port.semantics == Semantics()) continue;
    const std::string where = fmt::format("'{}' of node '{}'", port.name, node);
    const auto* tensor = std::get_if<at::Tensor>(&port.value.data);
    if (!tensor || !tensor->defined()) {
      return wrong_type(where + ": semantics describe one tensor, found a nested value or none");
    }
    LEAPP_RETURN_IF_ERROR(check_semantics(where, port.semantics, tensor->sizes()));
    flat.ports[first].semantics = port.semantics;
  }
  return flat;
}

std::vector<Nested> rebuild(const Payload& payload, const std::vector<at::Tensor>& tensors) {
  std::vector<Nested> values;
  auto next = tensors.begin();
  for (const PortValue& port : payload) values.push_back(rebuild_value(port.value, next));
  return values;
}

std::vector<Nested> values_of(const Payload& payload) {
  std::vector<Nested> values;
  for (const PortValue& port : payload) values.push_back(port.value);
  return values;
}

}  // namespace leapp::exporter
