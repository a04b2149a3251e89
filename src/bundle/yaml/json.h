// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a YAML file of a bundle says, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "leapp/bundle/spec.h"

namespace leapp::bundle {

[[nodiscard]] nlohmann::ordered_json to_json(const YamlValue& value);
[[nodiscard]] nlohmann::ordered_json to_json(const YamlMap& map);

/// The text of it: in one line, or with `indent` spaces for each level. What is not UTF-8 becomes U+FFFD, and what is
/// no finite number null. Throws std::bad_alloc: nlohmann's values end the process instead, for their destructors ask
/// for memory. What an export writes is made with this.
[[nodiscard]] std::string json_text(const YamlValue& value, int indent = -1);

}  // namespace leapp::bundle
