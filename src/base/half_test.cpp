// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace leapp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// By the definition of the format, without looking at floats.
double value_of(std::uint16_t bits, int mantissa_bits, int lowest_exponent) {
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int exponent = (bits & 0x7FFF) >> mantissa_bits;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x7FFF >> mantissa_bits) return mantissa != 0 ? std::nan("") : sign * kInfinity;
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(whole, lowest_exponent + std::max(exponent - 1, 0) - mantissa_bits);
}

struct Format {
  int mantissa_bits;
  int lowest_exponent;
  float (*widen)(std::uint16_t) noexcept;
  std::uint16_t (*narrow_float)(float) noexcept;
  std::uint16_t (*narrow_double)(double) noexcept;
};

const Format kFormats[] = {{10, -14, widen_float16, narrow_float16, narrow_float16},
                           {7, -126, widen_bfloat16, narrow_bfloat16, narrow_bfloat16}};

TEST(Half, EveryPatternIsWhatTheFormatSays) {
  for (const Format& format : kFormats) {
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
      const auto bits = static_cast<std::uint16_t>(pattern);
      const double expected = value_of(bits, format.mantissa_bits, format.lowest_exponent);
      const float found = format.widen(bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found)) << bits;
        EXPECT_TRUE(std::isnan(format.widen(format.narrow_float(found)))) << bits;
        EXPECT_TRUE(std::isnan(format.widen(format.narrow_double(found)))) << bits;
        continue;
      }
      ASSERT_EQ(found, expected) << bits;
      ASSERT_EQ(format.narrow_float(found), bits);
      ASSERT_EQ(format.narrow_double(found), bits);
    }
  }
}

TEST(Half, BetweenTwoNeighboursTheNearerAndOfHalvesTheEvenOne) {
  for (const Format& format : kFormats) {
    const auto infinite = static_cast<std::uint16_t>(0x7FFF >> format.mantissa_bits << format.mantissa_bits);
    for (std::uint16_t low = 0; low < infinite; ++low) {
      const double from = value_of(low, format.mantissa_bits, format.lowest_exponent);
      const auto high = static_cast<std::uint16_t>(low + 1);
      // What would stand in the place of infinity, if the exponents went on.
      const double to = high == infinite ? 2 * from - value_of(low - 1, format.mantissa_bits, format.lowest_exponent)
                                         : value_of(high, format.mantissa_bits, format.lowest_exponent);
      const double middle = (from + to) / 2;
      const std::uint16_t even = (low & 1) == 0 ? low : high;
      ASSERT_EQ(format.narrow_double(middle), even) << low;
      ASSERT_EQ(format.narrow_double(-middle), even | 0x8000) << low;
      // Nearer to the middle than a float can be: by way of one it would be rounded twice.
      ASSERT_EQ(format.narrow_double(std::nextafter(middle, 0)), low);
      ASSERT_EQ(format.narrow_double(std::nextafter(middle, kInfinity)), high);
      const auto narrow = static_cast<float>(middle);
      if (static_cast<double>(narrow) != middle) continue;
      ASSERT_EQ(format.narrow_float(narrow), even) << low;
      ASSERT_EQ(format.narrow_float(std::nextafter(narrow, 0.0F)), low);
      ASSERT_EQ(format.narrow_float(std::nextafter(narrow, std::numeric_limits<float>::infinity())), high);
    }
    EXPECT_EQ(format.narrow_double(std::numeric_limits<double>::max()), infinite);
    EXPECT_EQ(format.narrow_double(-kInfinity), infinite | 0x8000);
    EXPECT_EQ(format.narrow_double(std::numeric_limits<double>::denorm_min()), 0);
  }
}

}  // namespace
}  // namespace leapp
