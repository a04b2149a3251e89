// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/tolerance.h"

#include <gtest/gtest.h>

#include <limits>

namespace leapp {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Tolerance, IsRelativeToWhatIsExpected) {
  const Tolerance tolerance{.rtol = 0.5, .atol = 0.25};
  EXPECT_TRUE(tolerance.allows(2.25, 4));
  EXPECT_TRUE(tolerance.allows(6.25, 4));
  EXPECT_FALSE(tolerance.allows(6.26, 4));
  EXPECT_TRUE(tolerance.allows(-6.25, -4));
  EXPECT_TRUE(tolerance.allows(0.25, 0));
  EXPECT_FALSE(tolerance.allows(4, 2.25)) << "the other way round it is another question";
}

TEST(Tolerance, OfZeroAsksForEquality) {
  const Tolerance none{.rtol = 0, .atol = 0};
  EXPECT_TRUE(none.allows(0.0, -0.0));
  EXPECT_FALSE(none.allows(1, std::nextafter(1, 2)));
}

TEST(Tolerance, InfinitiesAgreeWhenTheyAreEqual) {
  const Tolerance large{.rtol = 1e300, .atol = 1e300};
  EXPECT_TRUE(large.allows(kInfinite, kInfinite));
  EXPECT_FALSE(large.allows(kInfinite, -kInfinite));
  EXPECT_FALSE(large.allows(kInfinite, 1));
  EXPECT_FALSE(large.allows(1, kInfinite));
}

TEST(Tolerance, NanNeverAgrees) {
  const Tolerance large{.rtol = 1e300, .atol = 1e300};
  EXPECT_FALSE(large.allows(kNan, kNan));
  EXPECT_FALSE(large.allows(kNan, 0));
  EXPECT_FALSE(large.allows(0, kNan));
  EXPECT_FALSE(large.allows(kNan, kInfinite));
}

TEST(Tolerance, TakesADistanceThatDoublesCannotTell) {
  const double large = 9007199254740992.0;  // 2^53: the next integer is the same double
  const Tolerance none{.rtol = 0, .atol = 0};
  EXPECT_TRUE(none.allows(large, large));
  EXPECT_FALSE(none.allows(large, large, 1));
}

}  // namespace
}  // namespace leapp
