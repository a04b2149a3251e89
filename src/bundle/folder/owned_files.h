// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace leapp::bundle {

/// The files in `folder` that an earlier export of the bundle `name` wrote, as sorted paths relative to it, whether
/// they exist or not: the models its YAML lists and the names every export uses. log.txt is not among them: it belongs
/// to the session. A YAML file that cannot be read only makes the list shorter; a model path that leads out of the
/// folder is left out.
[[nodiscard]] std::vector<std::string> files_of_bundle(const std::filesystem::path& folder, std::string_view name);

}  // namespace leapp::bundle
