// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/words.h"

#include <gtest/gtest.h>

#include "base/text.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/console/table.h"
#include "cli/measure/latency.h"
#include "inspect/compare.h"
#include "inspect/numbers.h"

namespace leapp::cli {
namespace {

TEST(Words, TheClosestCandidate) {
  const std::vector<std::string> commands{"inspect", "check", "run", "bench", "export-triton"};
  EXPECT_EQ(closest("inspct", commands), "inspect");
  EXPECT_EQ(closest("chekc", commands), "check");
  EXPECT_EQ(closest("rn", commands), "run");
  EXPECT_EQ(closest("exporttriton", commands), "export-triton");
  EXPECT_EQ(closest("walk", commands), "");
  EXPECT_EQ(closest("", commands), "");
  EXPECT_EQ(closest(std::string(100'000, 'x'), commands), "");
}

TEST(Words, NothingThatATerminalWouldObeyIsPrinted) {
  EXPECT_EQ(printable("a\x1b[31mb\xff\xc2\x9b"), "a\\x1b[31mb\\xff\\xc2\\x9b");
  EXPECT_EQ(printable("Gelenk ä 関節"), "Gelenk ä 関節");
  EXPECT_EQ(one_line("two\n  lines\n"), "two lines");
  EXPECT_EQ(display_width("関節a"), 5U);
}

TEST(Words, LongTextIsWrappedAndNothingIsLost) {
  const std::string text = "policy/first, policy/second_with_a_long_name, policy/third";
  std::string joined;
  for (const std::string& line : wrap(text, 20)) {
    EXPECT_LE(display_width(line), 20U);
    joined += line;
  }
  std::string without_spaces = text;
  std::erase(without_spaces, ' ');
  std::erase(joined, ' ');
  EXPECT_EQ(joined, without_spaces);
  EXPECT_EQ(wrap("", 10), std::vector<std::string>{""});
}

TEST(Words, NumbersForPeople) {
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1234567), "1.2 MB");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(plural(1, "node"), "1 node");
  EXPECT_EQ(time_text(13'240), "13.2 µs");
}

TEST(Table, IsNeverWiderThanALine) {
  Table table({{"name"}, {"what"}, {"number", true}, {"never used"}});
  table.add({std::string(150, 'x'), "short", "1"});
  table.add({"a", std::string(90, 'y') + " " + std::string(90, 'z'), "1,000"});
  const Context context;
  std::istringstream lines(table.text(context, 2));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(display_width(line), kLineWidth);
  EXPECT_GT(count, 3U);
  EXPECT_EQ(table.text(context).find("never used"), std::string::npos);
}

TEST(Numbers, TextIsReadAsWhatTheDtypeHolds) {
  std::byte element[8]{};
  EXPECT_TRUE(parse_element("+1e3", DType::kFloat32, element));
  EXPECT_EQ(element_text(DType::kFloat32, element), "1000");
  EXPECT_TRUE(parse_element("-128", DType::kInt8, element));
  EXPECT_FALSE(parse_element("128", DType::kInt8, element));
  EXPECT_FALSE(parse_element("-1", DType::kUInt8, element));
  EXPECT_TRUE(parse_element("3.0", DType::kInt32, element));
  EXPECT_EQ(element_text(DType::kInt32, element), "3");
  EXPECT_FALSE(parse_element("3.5", DType::kInt32, element));
  EXPECT_TRUE(parse_element("True", DType::kBool, element));
  EXPECT_FALSE(parse_element("2", DType::kBool, element));
  EXPECT_TRUE(parse_element("9223372036854775807", DType::kInt64, element));
  EXPECT_EQ(element_text(DType::kInt64, element), "9223372036854775807");
  EXPECT_FALSE(parse_element("1x", DType::kFloat64, element));
  EXPECT_FALSE(parse_element("", DType::kFloat64, element));
  EXPECT_TRUE(parse_element("nan", DType::kFloat32, element));
}

TensorView view(std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  return {values.data(), DType::kFloat32, shape};
}

TEST(Compare, ToleranceInfinitiesAndNotNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::int64_t> shape{4};
  std::vector<float> found{1.0005F, infinity, std::nanf(""), 0};
  const std::vector<float> same{1, infinity, std::nanf("1"), 0};
  EXPECT_EQ(compare(view(found, shape), std::as_bytes(std::span(same)), {}).count, 0U);
  const std::vector<float> other{1.1F, 3, 0, 0};
  const TensorDifference difference = compare(view(found, shape), std::as_bytes(std::span(other)), {});
  EXPECT_EQ(difference.count, 3U);
  EXPECT_EQ(difference.first->element, 0U);
  EXPECT_EQ(difference.first->expected, "1.1");
}

TEST(Latency, PercentilesAreThoseOfTheTimes) {
  Latencies times(1000);
  for (std::uint64_t i = 1000; i > 0; --i) times.add(i);
  times.add(5);  // there is no room for it
  const LatencySummary summary = summarise(times);
  EXPECT_EQ(summary.least, 1);
  EXPECT_EQ(summary.p50, 500);
  EXPECT_EQ(summary.p90, 900);
  EXPECT_EQ(summary.p99, 990);
  EXPECT_EQ(summary.p999, 999);
  EXPECT_EQ(summary.most, 1000);
  EXPECT_NEAR(summary.jitter, std::sqrt((1000.0 * 1000 - 1) / 12), 1e-9);
  std::size_t counted = 0;
  for (const LatencyBucket& bucket : histogram(times)) counted += bucket.count;
  EXPECT_EQ(counted, 1000U);
  EXPECT_TRUE(histogram(Latencies(1)).empty());
}

}  // namespace
}  // namespace leapp::cli
