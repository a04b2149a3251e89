// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

/// Ports as the YAML has them, under its keys and in its order. All functions may be called from any thread.
namespace leapp::bundle {

/// Everything that is written of a port.
LEAPP_API YamlMap port_entry(const Port& port);

/// What is written of its meaning: the built-in fields that are set, then `extra`.
LEAPP_API YamlMap semantics_entry(const Semantics& semantics);

/// The inverse; keys that are no field go to `extra`. kDataLoss where a field is not what it has to be.
LEAPP_API Result<Semantics> parse_semantics(const YamlMap& entry);

/// The keys of the built-in fields of a port.
LEAPP_API std::vector<std::string_view> port_keys();

}  // namespace leapp::bundle
