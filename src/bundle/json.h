// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a YAML file of a bundle says, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "leapp/bundle/spec.h"

namespace leapp::bundle {

[[nodiscard]] nlohmann::ordered_json to_json(const YamlValue& value);
[[nodiscard]] nlohmann::ordered_json to_json(const YamlMap& map);

}  // namespace leapp::bundle
