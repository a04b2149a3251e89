// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/spec_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <variant>

namespace leapp::cli {

Json to_json(const bundle::YamlValue& value) {
  return std::visit(
      [](const auto& data) -> Json {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, bundle::YamlList>) {
          Json list = Json::array();
          for (const bundle::YamlValue& item : data) list.push_back(to_json(item));
          return list;
        } else if constexpr (std::is_same_v<T, bundle::YamlMap>) {
          return to_json(data);
        } else {
          return data;
        }
      },
      value.data);
}

Json to_json(const bundle::YamlMap& map) {
  Json result = Json::object();
  for (const auto& [key, value] : map) result[key] = to_json(value);
  return result;
}

Json element_names_json(const bundle::Port& port) {
  Json axes = Json::array();
  if (!port.element_names) return nullptr;
  for (std::size_t axis = 0; axis < port.element_names->size(); ++axis) {
    const bundle::AxisNames& names = (*port.element_names)[axis];
    if (port.temporal_axis && port.temporal_axis->axis == axis) {
      axes.push_back("__temporal_axis__");
    } else {
      axes.push_back(names ? Json(*names) : Json(nullptr));
    }
  }
  return axes;
}

Json to_json(const bundle::Port& port) {
  Json result = {{"name", port.name}, {"dtype", dtype_name(port.dtype)}, {"shape", port.shape}, {"type", port.type}};
  if (port.kind) result["kind"] = *port.kind;
  if (port.element_names) result["element_names"] = element_names_json(port);
  if (port.temporal_axis) result["temporal_period_ms"] = port.temporal_axis->period_ms;
  for (const auto& [key, value] : port.extra) result[key] = to_json(value);
  return result;
}

std::string value_text(const bundle::YamlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  return to_json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace leapp::cli
