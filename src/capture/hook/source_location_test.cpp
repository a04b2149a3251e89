// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/source_location.h"

#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(SourceLocation, EqualPlacesAreOne) {
  const LocationId here = intern_location("a.py", 3, "f");
  EXPECT_EQ(intern_location("a.py", 3, "f"), here);
  EXPECT_NE(intern_location("a.py", 4, "f"), here);
  EXPECT_EQ(location_text(here), "a.py:3");
  EXPECT_EQ(line_prefix(here) + "x" + at_line(here), "a.py:3: x at a.py:3");
  EXPECT_EQ(line_prefix(0) + at_line(0), "");
}

}  // namespace
}  // namespace leapp::capture
