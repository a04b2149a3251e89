// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/heap_limits.h"

#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdlib>

namespace leapp::capture {
namespace {

#if defined(__GLIBC__)
// Of free memory at the end of the heap malloc takes whatever fits, whatever the limit.
bool is_mapped(std::size_t megabytes) {
  malloc_trim(0);
  return HeapLimits::is_mapped(megabytes << 20);
}

// In a process of its own: what the limit is, and what is free, depends on all that ran before.
TEST(HeapLimitsDeathTest, AreSetBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    const bool before = is_mapped(8);  // a limit that adapts is at 8 MB after this
    bool during = false;
    {
      const HeapLimits limits;
      during = is_mapped(8);
    }
    const bool after = before ? is_mapped(16) : !is_mapped(8);
    std::exit(during && after ? 0 : 1);
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace leapp::capture
