// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/engine.h"

/// An engine in a shared object of its own, loaded when a bundle needs it. Both sides are built from the same sources:
/// the version is what tells a plugin of another build apart, also of one with another layout of std::string.
namespace leapp::engine {

#ifdef _GLIBCXX_USE_CXX11_ABI
inline constexpr int kStringAbi = _GLIBCXX_USE_CXX11_ABI;
#else
inline constexpr int kStringAbi = 1;
#endif
/// Odd with the C++ ABI of today, even with the one before.
inline constexpr int kPluginVersion = 2 * 3 + kStringAbi;
inline constexpr const char* kPluginFunction = "leapp_open_engine";

/// The function that a plugin exports. The caller deletes what it returns; null: `error` says why, or nothing when
/// `version` is not the plugin's own, and then `options` and `error` may not even look as it expects. Never throws.
using OpenPlugin = Engine* (*)(int version, const Options* options, std::string* error);

}  // namespace leapp::engine
