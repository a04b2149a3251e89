// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which leaks of the paths of a node are one state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "capture/branches/path_reads.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// A leak of a path.
struct SlotMember {
  std::size_t path = 0;
  const Leak* leak = nullptr;
};
using SlotGroup = std::vector<SlotMember>;

/// What the first call of a path read, where it is a value that the node had left.
struct FormerRead {
  std::size_t path = 0;
  Use use;
  Leak::Seen seen;
};

struct SlotGroups {
  std::vector<SlotGroup> groups;                           ///< none is empty
  std::map<std::size_t, std::vector<FormerRead>> formers;  ///< by group: reads that are no leaks by themselves
  std::deque<Leak> made;                                   ///< of memory that one path writes and another reads
};

/// What tells that two paths read the same.
enum class SlotSigns : std::uint8_t {
  kPlaces,  ///< one name, or one place of the program
  kValues,  ///< they have found the same value of the same path; for paths that come in turn
};

[[nodiscard]] SlotGroups group_leaks(const PathHistory& history, SlotSigns signs = SlotSigns::kPlaces);

}  // namespace leapp::capture
