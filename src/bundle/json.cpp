// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/json.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

namespace leapp::bundle {

using Json = nlohmann::ordered_json;

Json to_json(const YamlValue& value) {
  return std::visit(
      [](const auto& data) -> Json {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, YamlList>) {
          Json list = Json::array();
          for (const YamlValue& item : data) list.push_back(to_json(item));
          return list;
        } else if constexpr (std::is_same_v<T, YamlMap>) {
          return to_json(data);
        } else {
          return data;
        }
      },
      value.data);
}

Json to_json(const YamlMap& map) {
  Json result = Json::object();
  for (const auto& [key, value] : map) result[key] = to_json(value);
  return result;
}

}  // namespace leapp::bundle
