// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/file_system.h"

#include <sys/stat.h>

#include "bundle/folder/folder_test_base.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

class FileSystemTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    put(target_ / "a", "old");
    put(root_ / "staged/a", "new");
  }
};

TEST_F(FileSystemTest, ExchangesInOneStep) {
  ASSERT_TRUE(exchange_folders(root_ / "staged", target_, root_ / "parked").ok());
  EXPECT_EQ(get(target_ / "a"), "new");
  EXPECT_TRUE(fs::exists(root_ / "staged/a") || fs::exists(root_ / "parked/a"));
}

TEST_F(FileSystemTest, ExchangesInTwoStepsWhereItMust) {
  ASSERT_TRUE(exchange_folders(root_ / "staged", target_, root_ / "parked", /*can_exchange=*/false).ok());
  EXPECT_EQ(get(target_ / "a"), "new");
  EXPECT_EQ(get(root_ / "parked/a"), "old");
  EXPECT_FALSE(fs::exists(root_ / "staged"));
}

TEST_F(FileSystemTest, RestoresTheOldFolderWhenTheSecondStepFails) {
  fs::remove_all(root_ / "staged");
  for (const bool can_exchange : {true, false}) {
    const Status status = exchange_folders(root_ / "staged", target_, root_ / "parked", can_exchange);
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_NE(status.message().find(target_.string()), std::string::npos) << status.message();
    EXPECT_EQ(tree(root_), "bundle/ bundle/a=old ");
  }
}

TEST_F(FileSystemTest, SyncFollowsNoSymlinkAndNamesWhatFails) {
  fs::create_symlink("/nonexistent", target_ / "dangling");
  ASSERT_EQ(::mkfifo((target_ / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(sync_tree_to_disk(target_).ok());
  EXPECT_NE(sync_tree_to_disk(root_ / "missing").message().find("missing"), std::string::npos);
}

TEST_F(FileSystemTest, RemoveTreeLeavesWhatSymlinksPointTo) {
  put(root_ / "precious/file", "keep");
  fs::create_directory_symlink(root_ / "precious", target_ / "link");
  put(target_ / "sub/file", "x");
  fs::permissions(target_ / "sub", fs::perms::owner_read);
  remove_tree(target_);
  EXPECT_FALSE(fs::exists(target_));
  EXPECT_EQ(get(root_ / "precious/file"), "keep");
}

}  // namespace
}  // namespace leapp::bundle
