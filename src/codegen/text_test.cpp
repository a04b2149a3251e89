// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace leapp::codegen {
namespace {

template <typename T>
std::string of(DType dtype, T number) {
  return literal(dtype, std::as_bytes(std::span(&number, 1)), true);
}

TEST(CommentText, IsOneLineThatNothingEnds) {
  for (const char* hostile : {"a\nint x;", "a\r\nb", "ends in a backslash\\", "trigraph ?\?/", "*/ int x; /*",
                              "\xff\xfe", "right to left \xe2\x80\xae", "bell \a", "quote \""}) {
    const std::string text = comment_text(hostile);
    EXPECT_FALSE(text.ends_with('\\')) << text;
    EXPECT_EQ(text.find("?\?"), std::string::npos) << text;
    EXPECT_EQ(text.find("*/"), std::string::npos) << text;
    for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << text;
  }
  EXPECT_EQ(comment_text("policy.py:31"), "policy.py:31");
  EXPECT_EQ(comment_text("\xcf\x80"), "\\u{3c0}");
  EXPECT_EQ(comment_text("?\?\?/"), "? ? ?/");
  EXPECT_LT(comment_text(std::string(100000, 'x')).size(), 300U);
}

TEST(Literal, IsReadBackAsTheSameNumber) {
  for (const float number : {0.1F, -1.5e-30F, 16777216.0F, 3.4028235e38F, 1e-45F, 1.1754944e-38F, -0.0F}) {
    const std::string text = literal(number);
    EXPECT_EQ(text.back(), 'F');
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
    const float back = std::strtof(text.c_str(), nullptr);
    EXPECT_EQ(back, number) << text;
    EXPECT_EQ(std::signbit(back), std::signbit(number));
  }
  EXPECT_EQ(literal(2.0F), "2.0F");
  EXPECT_EQ(literal(0.1), "0.1");
  EXPECT_EQ(literal(-std::numeric_limits<float>::infinity()), "-INFINITY");
  EXPECT_EQ(literal(std::nan("")), "NAN");
}

TEST(Literal, OfEveryType) {
  EXPECT_EQ(of<std::int64_t>(DType::kInt64, std::numeric_limits<std::int64_t>::min()), "INT64_MIN");
  EXPECT_EQ(of<std::int32_t>(DType::kInt32, std::numeric_limits<std::int32_t>::min()), "INT32_MIN");
  EXPECT_EQ(of<std::int8_t>(DType::kInt8, -128), "-128");
  EXPECT_EQ(of<std::uint64_t>(DType::kUInt64, ~std::uint64_t{0}), "18446744073709551615U");
  EXPECT_EQ(of<std::uint8_t>(DType::kUInt8, 200), "200");
  EXPECT_EQ(of<std::uint8_t>(DType::kBool, 7), "true");
  EXPECT_EQ(of<std::uint16_t>(DType::kFloat16, 0x3c00), "{0x3c00}");
  const std::uint16_t bits = 0x3f80;
  EXPECT_EQ(literal(DType::kBFloat16, std::as_bytes(std::span(&bits, 1)), false), "BFloat16{0x3f80}");
}

TEST(Wrapped, KeepsLinesShort) {
  const std::string text = wrapped(std::vector<std::string>(100, "0.12345678F"), "    ");
  std::size_t line = 0;
  for (const char c : text) {
    line = c == '\n' ? 0 : line + 1;
    EXPECT_LE(line, 118U);
  }
  EXPECT_EQ(wrapped({"1", "2"}, "  "), "  1, 2");
}

}  // namespace
}  // namespace leapp::codegen
