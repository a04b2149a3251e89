// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "cli/console/context.h"

/// --timeout for what cannot be asked to stop: a model that is being loaded, one operator that takes hours.
namespace leapp::cli {

/// From now on the process ends when `limit`, and a second for those who stop by themselves, goes by without
/// heartbeat().
void end_after_silence_of(std::chrono::nanoseconds limit);

/// What is under way now goes on. If it hangs, the process ends with `code`. Costs next to nothing without a limit.
void heartbeat(ExitCode code);

}  // namespace leapp::cli
