// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "leapp/base/status.h"

namespace leapp::engine::ort {

/// Whether a shared object is as long as its own headers say. One that was cut off while it was copied would be mapped
/// all the same, and the process would die of SIGBUS at the first page that is not there. kDataLoss with both sizes;
/// ok for what is no 64-bit ELF file of this machine's byte order: whoever loads it says why not.
Status check_whole(const std::filesystem::path& file);

}  // namespace leapp::engine::ort
