// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/engine.h"

/// An engine in a shared object of its own, loaded when a bundle needs it. Both sides are built from the same sources:
/// the version is what tells a plugin of another build apart.
namespace leapp::engine {

inline constexpr int kPluginVersion = 2;
inline constexpr const char* kPluginFunction = "leapp_open_engine";

/// The function that a plugin exports. The caller deletes what it returns; null: `error` says why. Never throws.
using OpenPlugin = Engine* (*)(int version, const Options* options, std::string* error);

}  // namespace leapp::engine
