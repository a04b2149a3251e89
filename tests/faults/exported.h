// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

/// Bundles as they lie on the disk, to be compared byte for byte.
namespace leapp::faults {

/// The bytes of each file, by its name.
using Files = std::map<std::string, std::string>;

/// All files below `folder`, but for log and report of the bundle "g", which say when they were made.
Files files_of(const std::filesystem::path& folder);

/// The names of the files that are not as they should be; with `more`, of those too that should not be there.
std::string differing(const Files& found, const Files& wanted, bool more = false);

}  // namespace leapp::faults
