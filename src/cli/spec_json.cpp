// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/spec_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "bundle/json.h"

namespace leapp::cli {

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
  for (const auto& [key, value] : port.extra) result[key] = bundle::to_json(value);
  return result;
}

std::string value_text(const bundle::YamlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  return bundle::to_json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace leapp::cli
