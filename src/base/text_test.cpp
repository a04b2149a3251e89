// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace leapp {
namespace {

TEST(Text, Join) {
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::array<const char*, 3>{"", "b", ""}, ","), ",b,");
}

TEST(Text, Types) {
  EXPECT_EQ(type_text(DType::kFloat32, std::vector<std::int64_t>{1, 48}), "float32[1,48]");
  EXPECT_EQ(type_text(DType::kBool, {}), "bool[]");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>{7}), "[7]");
  EXPECT_EQ(shape_text(std::vector<std::int64_t>(10'000, 1)).size(), 2 * 64 + 5);
}

TEST(Text, QuoteMakesOneLine) {
  EXPECT_EQ(quote("a"), R"("a")");
  EXPECT_EQ(quote("say \"hi\"\\\n\t\x01\x7f"), R"("say \"hi\"\\\n\t\x01\x7f")");
  EXPECT_EQ(quote("größe"), "\"größe\"");
}

TEST(Text, PrintableShowsWhatNobodySees) {
  EXPECT_EQ(printable("a\x1b[2J\x7f\n"), "a\\x1b[2J\\x7f\\x0a");
  EXPECT_EQ(printable("a\nb", true), "a\nb");
  for (const char* hidden : {"\u00ad", "\u061c", "\u180e", "\u200b", "\u200f", "\u2028", "\u202e", "\u2060", "\u2066",
                             "\ufeff", "\ufffb", "\U000e0041"}) {
    EXPECT_TRUE(printable(hidden).starts_with("\\x")) << hidden;
  }
  for (const char* seen : {"é", "日本", "😀", "\u200d", "\u200c", "\u0301", "\u00a0"}) EXPECT_EQ(printable(seen), seen);
}

TEST(Text, Utf8) {
  for (const char* text : {"", "plain", "größe", "関節", "\xF0\x9F\xA4\x96", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << quote(text);
  }
  for (const char* text : {"\x80", "\xC3", "a\xC3(", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF",
                           "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_FALSE(is_utf8(text)) << quote(text);
  }
  std::string_view robot = "\xF0\x9F\xA4\x96!";
  EXPECT_EQ(take_code_point(robot), U'\U0001F916');
  EXPECT_EQ(take_code_point(robot), U'!');
  EXPECT_TRUE(robot.empty());
}

}  // namespace
}  // namespace leapp
