// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "leapp/base/status.h"

namespace leapp::cli {

/// Asks the desktop to show a file, and does not wait for it. A Status when there is nobody to ask.
Status open_in_browser(const std::filesystem::path& file);

}  // namespace leapp::cli
