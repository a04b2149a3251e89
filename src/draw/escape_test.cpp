// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/escape.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/text.h"

namespace leapp::draw {
namespace {

TEST(Escape, WhatCannotBeDrawnIsReplaced) {
  EXPECT_EQ(printable("a\nb\x7F"), "a␊b␡");
  EXPECT_EQ(printable("\xFF é \xE2\x80\xA8"), "\xEF\xBF\xBD é \xEF\xBF\xBD");
  EXPECT_EQ(printable(std::string("\0", 1)), "␀");
  EXPECT_EQ(printable("a\u202eb\ufeff"), "a\uFFFDb\uFFFD");
}

TEST(Escape, XmlAndLabels) {
  EXPECT_EQ(escape_xml("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escape_label("\\N b"), "\\\\N&#160;b");
}

TEST(Escape, WrappedLinesAreTheWholeText) {
  const std::string text = "a_name_that_goes_on_and_on/until日本語_its.end" + std::string(100, 'x');
  for (const std::size_t width : {5U, 12U, 30U, 500U}) {
    const auto lines = wrap(text, width);
    EXPECT_EQ(join(lines, ""), text);
    for (const std::string& line : lines) {
      std::string_view rest = line;
      std::size_t length = 0;
      while (!rest.empty()) {
        EXPECT_TRUE(take_code_point(rest));
        ++length;
      }
      EXPECT_LE(length, width);
    }
  }
  EXPECT_EQ(wrap("one_two", 5), (std::vector<std::string>{"one_", "two"}));
  EXPECT_EQ(wrap("", 5), std::vector<std::string>{""});
}

TEST(Escape, NothingInAScriptEndsIt) {
  const std::string text = escape_script("</script><!-- & \xE2\x80\xA8 \xE2\x80\xA9 é");
  EXPECT_EQ(text, "\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028 \\u2029 é");
}

}  // namespace
}  // namespace leapp::draw
