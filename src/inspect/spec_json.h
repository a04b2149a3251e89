// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "leapp/bundle/spec.h"

namespace leapp::inspect {

/// Keys stay in the order in which they were put in.
using Json = nlohmann::ordered_json;

/// What the YAML says of a port, under the YAML's own keys. Keys that are not written are left out.
[[nodiscard]] Json to_json(const bundle::Port& port);

/// "0.5", "[1, 2]", "{a: 1}": a value in one line, for people.
[[nodiscard]] std::string value_text(const bundle::YamlValue& value);

}  // namespace leapp::inspect
