// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#define LEAPP_FAULTS_EXPORT extern "C" __attribute__((visibility("default")))

/// What the interposed functions ask. Nothing here allocates, locks or calls an interposed function.
namespace leapp::faults {

enum class Call : unsigned char {
  kAlloc,
  kOpen,
  kWrite,
  kRename,
  kLink,
  kUnlink,
  kMkdir,
  kSync,
  kStat,
  kList,
  kLock,
  kMode,
  kRead,   ///< to open a file for reading
  kBytes,  ///< to read from one that is open
  kMap,
};
inline constexpr std::size_t kCalls = 15;

enum class Verdict : unsigned char {
  kGo,
  kFail,  ///< errno is set
  kTear,  ///< do half of it: then kill_if_planned(), and come back with the short count
};

/// Whether anything is armed. First of all, because it is cheap.
[[nodiscard]] bool armed();

/// A call on a path (relative to the open folder `folder`, or to the working folder: -100), or without one: null.
[[nodiscard]] Verdict decide(Call call, const char* path, int folder = -100);
/// A call on an open file. `can_tear`: the caller knows what kTear means.
[[nodiscard]] Verdict decide(Call call, int file, bool can_tear = false);

/// After a torn write. Does not return when the plan is to kill.
void kill_if_planned();

/// Writes who called, innermost first, and returns how many there are. Needs no memory, as backtrace() does at first.
[[nodiscard]] int walk_stack(void** frames, int most);

/// The function behind an interposed one.
void* next_function(const char* name);

}  // namespace leapp::faults
