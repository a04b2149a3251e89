// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/heap_limits.h"

#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstddef>

namespace leapp::capture {
namespace {

#if defined(__GLIBC__)
// Of free memory at the end of the heap malloc takes whatever fits, whatever the limit.
bool is_mapped(std::size_t megabytes) {
  malloc_trim(0);
  return HeapLimits::is_mapped(megabytes << 20);
}

TEST(HeapLimitsTest, AreSetBack) {
  const bool before = is_mapped(8);  // a limit that adapts is at 8 MB after this
  {
    const HeapLimits limits;
    EXPECT_TRUE(is_mapped(8));
  }
  EXPECT_TRUE(before ? is_mapped(16) : !is_mapped(8));
}
#endif

}  // namespace
}  // namespace leapp::capture
