// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/heap_limits.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace leapp::capture {
namespace {

TEST(HeapLimitsTest, AreAsBeforeAfterwards) {
  const bool before = HeapLimits::is_mapped(std::size_t{1} << 20);
  {
    const HeapLimits limits;
    EXPECT_TRUE(HeapLimits::is_mapped(std::size_t{1} << 20));
  }
  EXPECT_EQ(HeapLimits::is_mapped(std::size_t{1} << 20), before);
}

}  // namespace
}  // namespace leapp::capture
