// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts calls of malloc and its relatives, ours apart from the engines'. The program that links this has functions of
// its own in the place of the C library's, which pass every call on.
#pragma once

#include <cstdint>

namespace leapp::cli {

struct AllocationCounts {
  std::uint64_t ours = 0;
  std::uint64_t engines = 0;  ///< inside an EngineScope, or on any thread but the one that counts
};

/// False in builds that cannot: those with a sanitizer, and those on another C library than glibc.
[[nodiscard]] bool can_count_allocations();

/// Counts while it lives. One at a time, in the whole process.
class AllocationScope {
 public:
  AllocationScope();
  ~AllocationScope();
  AllocationScope(const AllocationScope&) = delete;
  AllocationScope& operator=(const AllocationScope&) = delete;

  [[nodiscard]] AllocationCounts counts() const;
};

/// What this thread allocates while it lives is booked to the engine.
class EngineScope {
 public:
  EngineScope() noexcept;
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;

 private:
  bool before_;
};

}  // namespace leapp::cli
