// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/yaml_scalar.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <limits>
#include <string>

namespace leapp::bundle {
namespace {

TEST(YamlString, PlainWhereSafe) {
  for (const char* text : {"obs", "policy/obs", "preprocess.pt", "./policy.onnx", "float32", "Debian GNU/Linux 12",
                           "2.13.0+cpu", "06ba3362036d61e4205c50491c69f103", "None", "e5", "_", "a - b", "x_1"}) {
    EXPECT_EQ(yaml_string(text), text);
  }
}

TEST(YamlString, QuotedWhereAReaderWouldSeeSomethingElse) {
  for (const char* text :
       {"",     "yes",  "No",   "ON",   "off",   "y",   "N",     "true",  "False", "null",       "~",      "1",
        "1.1",  "1e3",  "1E-3", "0x1F", "0o17",  "017", "0b10",  "1_000", "0.7.2", "2001-12-14", "190:20", "12e45",
        ".inf", ".NaN", "+1",   "-1",   "-.inf", ".5",  "5.",    "-",     "- a",   "?",          "a: b",   "a #b",
        "#a",   "[a]",  "{a}",  "a,b",  "&a",    "*a",  "!a",    "|",     ">",     "%a",         "@a",     "`a",
        "'",    "\"",   " a",   "a ",   "---",   "...", "größe", "<<",    "=",     "a:",         ":a",     "a\\n"}) {
    const std::string scalar = yaml_string(text);
    EXPECT_EQ(scalar.front(), '\'') << scalar;
    EXPECT_EQ(scalar.back(), '\'') << scalar;
  }
  EXPECT_EQ(yaml_string("it's"), "'it''s'");
}

TEST(YamlString, EscapedWhereALineWouldBreak) {
  EXPECT_EQ(yaml_string("a\nb"), R"("a\nb")");
  EXPECT_EQ(yaml_string(std::string("\0\t\x7f", 3)), R"("\x00\t\x7F")");
  EXPECT_EQ(yaml_string("\xC2\x85 \xE2\x80\xA8 \xEF\xBB\xBF"), R"("\x85 \u2028 \uFEFF")");
  EXPECT_EQ(yaml_string("\"\\\n"), R"("\"\\\n")");
  EXPECT_EQ(yaml_string("関節\n\xF0\x9F\xA4\x96"), "\"関節\\n\xF0\x9F\xA4\x96\"");
}

TEST(YamlString, BytesThatAreNotUtf8AreReplaced) { EXPECT_EQ(yaml_string("a\xFFz"), "\"a\uFFFDz\""); }

TEST(YamlString, EveryAsciiCharacterReadsBackInEveryPlace) {
  for (int c = 0; c < 128; ++c) {
    const std::string one(1, static_cast<char>(c));
    for (const std::string& text : {one, one + "a", "a" + one, "a" + one + "b", one + " a", "a " + one, one + one}) {
      const YAML::Node block = YAML::Load(yaml_string(text) + ": " + yaml_string(text) + "\n");
      EXPECT_EQ(block.begin()->first.Scalar(), text) << c;
      EXPECT_EQ(block.begin()->second.Scalar(), text) << c;
      const YAML::Node flow = YAML::Load("[" + yaml_string(text) + ", {" + yaml_string(text) + ": x}]");
      EXPECT_EQ(flow[0].Scalar(), text) << c;
      EXPECT_EQ(flow[1].begin()->first.Scalar(), text) << c;
    }
  }
}

TEST(YamlFloat, ReadsBackAsTheSameFloat) {
  EXPECT_EQ(yaml_float(50), "50.0");
  EXPECT_EQ(yaml_float(-0.0), "-0.0");
  EXPECT_EQ(yaml_float(0.1), "0.1");
  EXPECT_EQ(yaml_float(1e-5), "1.0e-05");
  EXPECT_EQ(yaml_float(1e20), "1.0e+20");
  EXPECT_EQ(yaml_float(1.5e300), "1.5e+300");
  for (const double value :
       {1.0 / 3, 1e16, 123456789.123, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(YAML::Load(yaml_float(value)).as<double>(), value);
    EXPECT_NE(yaml_float(value).find('.'), std::string::npos);
  }
  EXPECT_EQ(yaml_float(std::numeric_limits<double>::infinity()), ".inf");
  EXPECT_EQ(yaml_float(-std::numeric_limits<double>::infinity()), "-.inf");
  EXPECT_EQ(yaml_float(std::numeric_limits<double>::quiet_NaN()), ".nan");
}

}  // namespace
}  // namespace leapp::bundle
