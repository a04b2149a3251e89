// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "leapp/base/status.h"

namespace leapp::bundle {

/// Gives `to` everything that is in the folder `from` but not in `to`, except the regular files whose paths relative to
/// `from` are in `left_behind`. Files become hard links (copies where there are none), sub-folders are made anew,
/// symlinks are copied as they are and never followed. A folder that held nothing but what is left behind stays behind.
/// `from` is not changed. Fails when a sub-folder of `from` is a mount point, or when `to` has a file where `from` has
/// a folder: deleting `from` afterwards would lose data.
Status carry_over(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::set<std::string>& left_behind);

}  // namespace leapp::bundle
