// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/mock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace leapp::runtime {
namespace {

constexpr std::array<std::int64_t, 1> kShape{4000};

template <typename T>
std::vector<T> made(DType dtype, std::uint64_t seed, std::string_view port) {
  std::vector<T> values(4000);
  MockSource(seed, port).fill({values.data(), dtype, kShape});
  return values;
}

TEST(Mock, DependsOnSeedAndNameAlone) {
  const auto first = made<float>(DType::kFloat32, 3, "policy/obs");
  EXPECT_EQ(first, made<float>(DType::kFloat32, 3, "policy/obs"));
  EXPECT_NE(first, made<float>(DType::kFloat32, 4, "policy/obs"));
  EXPECT_NE(first, made<float>(DType::kFloat32, 3, "policy/other"));
  std::vector<float> again(4000);
  MockSource source(3, "policy/obs");
  source.fill({again.data(), DType::kFloat32, kShape});
  source.fill({again.data(), DType::kFloat32, kShape});
  EXPECT_NE(first, again);
}

TEST(Mock, FloatsAreNormalAndTheSameInEveryWidth) {
  const auto values = made<double>(DType::kFloat64, 0, "a");
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 4000, 0, 0.1);
  EXPECT_NEAR(squares / 4000, 1, 0.1);
  const auto narrow = made<float>(DType::kFloat32, 0, "a");
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(narrow[i], static_cast<float>(values[i]));
}

TEST(Mock, TheRestIsZeroOrOneAndBoth) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8, DType::kBool}) {
    const auto values = made<std::uint8_t>(dtype, 0, "a");
    EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](std::uint8_t value) { return value <= 1; }));
    EXPECT_NE(std::count(values.begin(), values.end(), 0), 0);
    EXPECT_NE(std::count(values.begin(), values.end(), 1), 0);
  }
  const auto wide = made<std::int64_t>(DType::kInt64, 0, "a");
  EXPECT_TRUE(std::all_of(wide.begin(), wide.end(), [](std::int64_t value) { return value == 0 || value == 1; }));
}

}  // namespace
}  // namespace leapp::runtime
