// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "leapp/base/status.h"

namespace leapp::cli {

/// Writes a file that the user has named. A file is there whole or as it was, and a link to one is replaced, not
/// followed: it may lie in a folder of a stranger's. A device, and a pipe that somebody reads, take the bytes as they
/// come; a pipe that nobody reads is an error, as it would never end.
Status write_output(const std::filesystem::path& file, std::span<const std::byte> bytes);

/// What can be said against write_output before there is something to write.
Status check_output(const std::filesystem::path& file);

}  // namespace leapp::cli
