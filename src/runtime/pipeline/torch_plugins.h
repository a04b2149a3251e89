// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace leapp::runtime {

/// What the engine for torch is called, for people.
inline constexpr const char* kTorchPlugin = "libleapp_engine_torch<version>.so";

/// libleapp_engine_torch2_13.so and its like in these folders, in their order, and in each the newest torch first:
/// which of them fits is for the plugin to say, when it is loaded. A folder that cannot be read has none.
std::vector<std::string> torch_plugins_in(const std::vector<std::filesystem::path>& folders);

/// Where the libraries are looked for that this one opens by name: beside it, then where the loader would look.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace leapp::runtime
