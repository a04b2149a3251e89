// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace leapp::bundle {
namespace {

TEST(JsonText, IsWhatNlohmannWrites) {
  const YamlValue value = YamlMap{{"nothing", nullptr},
                                  {"yes", true},
                                  {"count", std::int64_t{-9007199254740993}},
                                  {"numbers", YamlList{1.0, -0.5, 1e-7, 3.25e30, 0.1, 50.0}},
                                  {"empty", YamlList{}},
                                  {"none", YamlMap{}},
                                  {"text", "a \"quoted\" \\ line\n\t\r\b\f\x01\x1f\x7f é \xE2\x80\xAE"},
                                  {"", YamlMap{{"deep", YamlList{YamlList{YamlMap{{"a", "b"}}}}}}}};
  for (const int indent : {-1, 0, 2}) {
    EXPECT_EQ(json_text(value, indent), to_json(value).dump(indent)) << indent;
  }
}

TEST(JsonText, WhatJsonHasNoWordFor) {
  EXPECT_EQ(json_text(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json_text(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(json_text("a\xFFz\xC3"), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace leapp::bundle
