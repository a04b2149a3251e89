// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace leapp {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "leapp_log_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directory(root_ / "a");
    fs::create_directory(root_ / "b");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(LogTest, ABlockIsPlainInTheFileAndOnWhatIsNoTerminal) {
  testing::internal::CaptureStderr();
  const auto log = Logger::open(root_ / "a").value();
  log->block("quiet", "\x1b[32mquiet\x1b[0m", false);
  log->block("loud\nin two lines", "\x1b[31mloud\x1b[0m", true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "leapp: error: loud\nin two lines\n");
  EXPECT_EQ(read(root_ / "a" / "log.txt"), "[info] quiet\n[error] loud\nin two lines\n");
}

TEST_F(LogTest, FileGetsEverythingConsoleWarningsAndErrors) {
  testing::internal::CaptureStderr();
  auto logger = Logger::open(root_ / "a").value();
  logger->debug("one");
  logger->info("two {}");
  logger->warning("three");
  logger->error("four");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "leapp: warning: three\nleapp: error: four\n");
  EXPECT_EQ(read(logger->path()), "[debug] one\n[info] two {}\n[warning] three\n[error] four\n");
}

TEST_F(LogTest, AnEqualWarningIsKeptOnceASession) {
  testing::internal::CaptureStderr();
  auto logger = Logger::open(root_ / "a").value();
  for (int i = 0; i < 3; ++i) logger->warning("again");
  for (int i = 0; i < 2; ++i) logger->info("every time");
  logger->warning("another");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "leapp: warning: again\nleapp: warning: another\n");
  EXPECT_EQ(read(logger->path()), "[warning] again\n[info] every time\n[info] every time\n[warning] another\n");
}

TEST_F(LogTest, AWarningAboutALineIsShownForOneSessionAndLoggedForEach) {
  testing::internal::CaptureStderr();
  for (const char* folder : {"a", "b"}) {
    auto logger = Logger::open(root_ / folder).value();
    logger->warning("log_test.py:7: known");
    logger->warning("about no line");
    EXPECT_EQ(logger->known_warnings(), std::string(folder) == "a" ? 0u : 1u);
    EXPECT_EQ(read(logger->path()), "[warning] log_test.py:7: known\n[warning] about no line\n");
  }
  Logger::open(root_ / "a", /*verbose=*/true).value()->warning("log_test.py:7: known");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "leapp: warning: log_test.py:7: known\nleapp: warning: about no line\nleapp: warning: about no line\n"
            "leapp: warning: log_test.py:7: known\n");
}

TEST_F(LogTest, WhatIsSaidIsForEverybody) {
  testing::internal::CaptureStderr();
  auto logger = Logger::open(root_ / "a").value();
  logger->say("Bundle: x");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "leapp: Bundle: x\n");
  EXPECT_EQ(read(logger->path()), "[info] Bundle: x\n");
}

TEST_F(LogTest, VerbosityCanBeOverriddenForAWhile) {
  testing::internal::CaptureStderr();
  auto logger = Logger::open(root_ / "a", /*verbose=*/true).value();
  logger->debug("shown");
  {
    const Logger::ConsoleScope quiet(*logger, false);
    logger->info("hidden");
    const Logger::ConsoleScope loud(*logger, true);
    logger->info("shown too");
  }
  EXPECT_TRUE(logger->verbose());
  logger->debug("and again");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "leapp: debug: shown\nleapp: info: shown too\nleapp: debug: and again\n");
}

TEST_F(LogTest, OpeningTruncates) {
  Logger::open(root_ / "a").value()->info("old");
  Logger::open(root_ / "a").value()->info("new");
  EXPECT_EQ(read(root_ / "a/log.txt"), "[info] new\n");
}

TEST_F(LogTest, ASymlinkIsReplacedNotFollowed) {
  std::ofstream(root_ / "precious") << "keep";
  fs::create_symlink(root_ / "precious", root_ / "a/log.txt");
  Logger::open(root_ / "a").value()->info("line");
  EXPECT_EQ(read(root_ / "precious"), "keep");
  EXPECT_EQ(read(root_ / "a/log.txt"), "[info] line\n");
}

TEST_F(LogTest, ASecondNameOfAFileIsReplacedNotWrittenTo) {
  std::ofstream(root_ / "precious") << "keep";
  fs::create_hard_link(root_ / "precious", root_ / "a/log.txt");
  Logger::open(root_ / "a").value()->info("line");
  EXPECT_EQ(read(root_ / "precious"), "keep");
  EXPECT_EQ(read(root_ / "a/log.txt"), "[info] line\n");
}

TEST_F(LogTest, FollowsItsHardLink) {
  auto logger = Logger::open(root_ / "a").value();
  logger->info("before");
  fs::create_hard_link(root_ / "a/log.txt", root_ / "b/log.txt");
  fs::remove_all(root_ / "a");
  ASSERT_TRUE(logger->reopen(root_ / "b").ok());
  logger->info("after");
  EXPECT_EQ(logger->path(), root_ / "b/log.txt");
  EXPECT_EQ(read(root_ / "b/log.txt"), "[info] before\n[info] after\n");
}

TEST_F(LogTest, ReopensACopyWithoutTruncatingIt) {
  auto logger = Logger::open(root_ / "a").value();
  logger->info("before");
  fs::copy_file(root_ / "a/log.txt", root_ / "b/log.txt");
  ASSERT_TRUE(logger->reopen(root_ / "b").ok());
  logger->info("after");
  EXPECT_EQ(read(root_ / "b/log.txt"), "[info] before\n[info] after\n");
  EXPECT_EQ(read(root_ / "a/log.txt"), "[info] before\n");
}

TEST_F(LogTest, FailuresNameThePathAndKeepTheOldFile) {
  EXPECT_EQ(Logger::open(root_ / "missing").status().code(), StatusCode::kIo);
  EXPECT_FALSE(fs::exists(root_ / "missing"));
  fs::create_directory(root_ / "b/log.txt");
  const auto blocked = Logger::open(root_ / "b");
  ASSERT_FALSE(blocked.ok());
  EXPECT_NE(blocked.status().message().find("b/log.txt"), std::string::npos) << blocked.status().message();

  auto logger = Logger::open(root_ / "a").value();
  EXPECT_FALSE(logger->reopen(root_ / "b").ok());
  logger->info("still here");
  EXPECT_EQ(read(root_ / "a/log.txt"), "[info] still here\n");
}

TEST_F(LogTest, LinesOfSeveralThreadsStayWhole) {
  auto logger = Logger::open(root_ / "a").value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) logger->info("0123456789");
    });
  }
  fs::create_hard_link(root_ / "a/log.txt", root_ / "b/log.txt");
  EXPECT_TRUE(logger->reopen(root_ / "b").ok());
  for (std::thread& thread : threads) thread.join();
  std::ifstream file(root_ / "b/log.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) EXPECT_EQ(line, "[info] 0123456789");
  EXPECT_EQ(lines, 800);
}

}  // namespace
}  // namespace leapp
