// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/spec_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "bundle/yaml/json.h"
#include "leapp/bundle/port_entry.h"

namespace leapp::inspect {

Json to_json(const bundle::Port& port) { return bundle::to_json(bundle::port_entry(port)); }

std::string value_text(const bundle::YamlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  return bundle::to_json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace leapp::inspect
