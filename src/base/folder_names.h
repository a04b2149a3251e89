// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace leapp {

/// The names in a folder, sorted; "." and ".." are not among them. On failure there are none, and `error` says why.
/// Throws std::bad_alloc when there is no memory: the iterators of libstdc++ end the process then, for they allocate in
/// functions that are noexcept.
[[nodiscard]] std::vector<std::string> folder_names(const std::filesystem::path& folder, std::error_code& error);

}  // namespace leapp
