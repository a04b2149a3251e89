// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/console.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace leapp {
namespace {

std::vector<std::string> g_lines;

void keep(const std::vector<ConsoleLine>& lines) {
  for (const ConsoleLine& line : lines) g_lines.push_back(console_text(line, false));
}

class ConsoleTest : public testing::Test {
 protected:
  void SetUp() override { g_lines.clear(); }
  void TearDown() override { set_console_host(nullptr); }
};

ConsoleLine warning(std::string text) { return ConsoleLine::about(LogLevel::kWarning, std::move(text), true); }

TEST_F(ConsoleTest, TheUsersLineIsFoundInFrontOfTheText) {
  const ConsoleLine line = warning("/a b/c:d.py:12: node 'x': 3: y");
  EXPECT_EQ(line.file, "/a b/c:d.py");
  EXPECT_EQ(line.line, 12);
  for (const char* text :
       {"node 'x': 3: y", "a:12", "a:12:b", ":12: a", "a:0: b", "a\nb:12: c", "call 1: aten::add at a.py:12: b", ""}) {
    EXPECT_EQ(warning(text).file, "") << text;
    EXPECT_EQ(warning(text).line, 0) << text;
  }
}

TEST_F(ConsoleTest, TextHasTheLevelUnlessItIsBare) {
  ConsoleLine line = warning("w");
  EXPECT_EQ(console_text(line, false), "leapp: warning: w\n");
  EXPECT_EQ(console_text(line, true), "leapp: \x1b[33m\x1b[1mwarning\x1b[m: w\n");
  line.bare = true;
  line.coloured = "\x1b[31mw";
  EXPECT_EQ(console_text(line, false), "leapp: w\n");
  EXPECT_EQ(console_text(line, true), "leapp: \x1b[31mw\n");
}

TEST_F(ConsoleTest, WithoutAHostLinesGoToStderrAtOnce) {
  testing::internal::CaptureStderr();
  to_console(warning("one"));
  ConsoleLine hidden = warning("two");
  hidden.shown = false;
  to_console(hidden);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "leapp: warning: one\n");
}

TEST_F(ConsoleTest, LinesWaitForAPlaceWithoutLocks) {
  testing::internal::CaptureStderr();
  set_console_host(keep);
  to_console(warning("one"));
  to_console(warning("two"));
  EXPECT_TRUE(g_lines.empty());
  flush_console();
  flush_console();
  EXPECT_EQ(g_lines, (std::vector<std::string>{"leapp: warning: one\n", "leapp: warning: two\n"}));
  {
    const ConsoleAtOnce at_once;
    to_console(warning("three"));
    EXPECT_EQ(g_lines.size(), 3u);
    std::thread([] { to_console(warning("four")); }).join();
    EXPECT_EQ(g_lines.size(), 3u) << "that is said of one thread";
  }
  set_console_host(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "leapp: warning: four\n") << "what waits when a host goes";
}

TEST_F(ConsoleTest, WhatTheHostLogsFollowsAndDoesNotNest) {
  set_console_host([](const std::vector<ConsoleLine>& lines) {
    for (const ConsoleLine& line : lines) {
      if (line.text == "one") {
        to_console(warning("of the host"));
        flush_console();
      }
      g_lines.push_back(line.text);
    }
  });
  to_console(warning("one"));
  to_console(warning("two"));
  flush_console();
  EXPECT_EQ(g_lines, (std::vector<std::string>{"one", "two", "of the host"}));
}

}  // namespace
}  // namespace leapp
