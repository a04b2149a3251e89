// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/console/context.h"
#include "inspect/compare.h"
#include "leapp/runtime/options.h"

namespace leapp::cli {

/// Whether a file is to be read as a recording: its name ends in .mcap, or it begins as such a file does.
[[nodiscard]] bool is_recording(const std::string& file);

struct RecordingReplay {
  std::string bundle;
  std::string file;
  std::optional<std::size_t> steps;      ///< at most; nothing: all
  std::optional<Tolerance> tolerance{};  ///< nothing: every bit
  runtime::LoadOptions load;
};

/// Does again what a ArrayLog has recorded, and says where it is not the same.
Result<ExitCode> replay_recording(const RecordingReplay& options, Context& context);

}  // namespace leapp::cli
