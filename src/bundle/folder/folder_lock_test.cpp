// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "bundle/folder/folder.h"
#include "bundle/folder/folder_test_base.h"
#include "bundle/folder/staging_names.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

using FolderLockTest = FolderTest;

FolderLock::Options at_once() { return {.patience = std::chrono::milliseconds(0), .on_wait = {}}; }

TEST_F(FolderLockTest, TheSecondIsToldWhoHasIt) {
  const auto first = FolderLock::acquire(target_, {});
  ASSERT_TRUE(first.value().is_held());
  const auto second = FolderLock::acquire(target_, at_once());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(second.status().message().find("is being written by process " + std::to_string(::getpid()) + " on "),
            std::string::npos)
      << second.status().message();
  EXPECT_TRUE(FolderLock::acquire(root_ / "other", at_once()).value().is_held());
}

TEST_F(FolderLockTest, TheSecondWaitsAndSaysSoOnce) {
  auto first = std::make_unique<FolderLock>(FolderLock::acquire(target_, {}).value());
  std::atomic<int> told{0};
  std::thread other([&] {
    const auto second = FolderLock::acquire(target_, {.on_wait = [&](const std::string&) { ++told; }});
    EXPECT_TRUE(second.value().is_held());
  });
  while (told == 0) std::this_thread::yield();
  first.reset();
  other.join();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(tree(root_), "");  // nothing stays behind
}

TEST_F(FolderLockTest, OneAtATime) {
  int inside = 0;
  int most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        const auto lock = FolderLock::acquire(target_, {});
        most = std::max(most, ++inside);
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST_F(FolderLockTest, GoesWithTheProcessThatDies) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::acquire(target_, {});
    ::_exit(lock.ok() && lock.value().is_held() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(FolderLock::acquire(target_, at_once()).value().is_held());
}

TEST_F(FolderLockTest, ALinkInItsPlaceIsNotFollowed) {
  put(root_ / "precious", "keep");
  fs::create_symlink(root_ / "precious", StagingNames(target_).lock_file());
  const auto lock = FolderLock::acquire(target_, at_once());
  EXPECT_FALSE(lock.value().is_held());
  EXPECT_EQ(get(root_ / "precious"), "keep");
}

TEST_F(FolderLockTest, ASecondNameOfSomebodysFileIsNotWrittenTo) {
  put(root_ / "precious", "keep");
  fs::create_hard_link(root_ / "precious", StagingNames(target_).lock_file());
  EXPECT_TRUE(FolderLock::acquire(target_, at_once()).value().is_held());
  EXPECT_EQ(tree(root_), "precious=keep ");
}

TEST_F(FolderLockTest, WaitingEndsWhenAsked) {
  const auto first = FolderLock::acquire(target_, {});
  int asked = 0;
  const auto second = FolderLock::acquire(target_, {.on_wait = {}, .interrupted = [&] { return ++asked == 3; }});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(asked, 3);
  EXPECT_NE(second.status().message().find("interrupted while waiting for process "), std::string::npos);
}

TEST_F(FolderLockTest, TwoExportsTakeTurns) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string mine = std::to_string(i);
      for (int k = 0; k < 10; ++k) {
        auto staged = StagedFolder::create(target_).value();
        ASSERT_TRUE(staged.write("a", mine).ok());
        ASSERT_TRUE(staged.write("b", mine).ok());
        const auto right = staged.right();
        ASSERT_TRUE(staged.commit({"a", "b"}).ok());
        // Still ours: nobody else replaces what we look at.
        EXPECT_EQ(get(target_ / "a"), mine);
        EXPECT_EQ(get(target_ / "b"), mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(get(target_ / "a"), get(target_ / "b"));
}

TEST_F(FolderLockTest, ReplaceFileGoesThroughNoLink) {
  put(root_ / "precious", "keep");
  fs::create_directory(target_);
  fs::create_symlink(root_ / "precious", target_ / "g.png");
  fs::create_symlink(root_ / "precious", target_ / "g.png.part");
  ASSERT_TRUE(replace_file(target_ / "g.png", "picture").ok());
  EXPECT_EQ(get(root_ / "precious"), "keep");
  EXPECT_EQ(tree(target_), "g.png=picture ");
}

// Each wrote into the same file beside it, and the first to be done gave a half of another's its name.
TEST_F(FolderLockTest, ReplaceFileWritesOneAtATime) {
  const std::size_t size = std::size_t{1} << 20U;
  ASSERT_TRUE(replace_file(root_ / "page", std::string(size, 'a')).ok());
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c'}) {
    threads.emplace_back([&, letter] {
      for (int i = 0; i < 30; ++i) EXPECT_EQ(replace_file(root_ / "page", std::string(size, letter)).message(), "");
    });
  }
  for (int i = 0; i < 100; ++i) {
    const std::string found = get(root_ / "page");
    ASSERT_EQ(found, std::string(size, found.front())) << found.size();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(fs::exists(root_ / "page.part"));
}

TEST_F(FolderLockTest, ReplaceFileRemovesWhatLiesInItsWay) {
  put(root_ / "precious", "keep");
  fs::create_hard_link(root_ / "precious", root_ / "page.part");
  ASSERT_TRUE(replace_file(root_ / "page", "new").ok());
  ASSERT_EQ(::mkfifo((root_ / "page.part").c_str(), 0600), 0);
  ASSERT_TRUE(replace_file(root_ / "page", "newer").ok());
  EXPECT_EQ(tree(root_), "page=newer precious=keep ");
  fs::create_directory(root_ / "page.part");
  EXPECT_EQ(replace_file(root_ / "page", "newest").code(), StatusCode::kIo);
  EXPECT_EQ(get(root_ / "page"), "newer");
}

// The name of the lock can be foreseen.
TEST_F(FolderLockTest, AFileThatSomebodyLinkedThereIsNotWrittenTo) {
  put(root_ / "precious", "keep");
  fs::create_hard_link(root_ / "precious", StagingNames(target_).lock_file());
  const auto first = FolderLock::acquire(target_, {});
  ASSERT_TRUE(first.value().is_held());
  EXPECT_EQ(get(root_ / "precious"), "keep");
  const auto second = FolderLock::acquire(target_, at_once());
  EXPECT_EQ(second.status().message().find("keep"), std::string::npos) << second.status().message();
}

TEST_F(FolderLockTest, APipeInItsPlaceIsNoHindrance) {
  ASSERT_EQ(::mkfifo(StagingNames(target_).lock_file().c_str(), 0600), 0);
  EXPECT_TRUE(FolderLock::acquire(target_, {}).ok());
}

TEST_F(FolderLockTest, ReplaceFileThatFailsLeavesNothing) {
  fs::create_directories(target_ / "g.png" / "full");
  EXPECT_EQ(replace_file(target_ / "g.png", "picture").code(), StatusCode::kIo);
  EXPECT_EQ(tree(target_), "g.png/ g.png/full/ ");
}

}  // namespace
}  // namespace leapp::bundle
