// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/folder.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "base/log.h"
#include "bundle/folder/folder_test_base.h"
#include "bundle/folder/staging_names.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

class StagedFolderTest : public FolderTest {
 protected:
  std::size_t siblings() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }
};

/// The id of a process that has just ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

ino_t inode(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

TEST_F(StagedFolderTest, MakesAFolderThatWasNotThere) {
  auto staged = StagedFolder::create(target_ / "").value();
  ASSERT_TRUE(staged.write("b.yaml", "text").ok());
  ASSERT_TRUE(staged.write("sub/deep/model.pt", "model").ok());
  EXPECT_EQ(get(staged.path("b.yaml")), "text");
  EXPECT_FALSE(fs::exists(target_));
  ASSERT_TRUE(staged.commit({}).ok());
  EXPECT_EQ(tree(root_), "bundle/ bundle/b.yaml=text bundle/sub/ bundle/sub/deep/ bundle/sub/deep/model.pt=model ");
  EXPECT_EQ(staged.path("b.yaml"), target_ / "b.yaml");
}

TEST_F(StagedFolderTest, AFileIsFilledPieceByPieceUntilSomethingFails) {
  auto staged = StagedFolder::create(target_).value();
  const auto fill = [](const StagedFolder::Writer& write) {
    for (const std::string_view piece : {"one", "two"}) {
      const Status written = write(std::as_bytes(std::span(piece)));
      if (!written.ok()) return written;
    }
    return Status();
  };
  ASSERT_TRUE(staged.write("a", fill).ok());
  EXPECT_EQ(get(staged.path("a")), "onetwo");
  const Status failed = staged.write("b", [](const StagedFolder::Writer&) { return invalid_argument("no model"); });
  EXPECT_EQ(failed.message(), "no model");
}

TEST_F(StagedFolderTest, WithoutCommitNothingHappened) {
  put(target_ / "a", "old");
  {
    auto staged = StagedFolder::create(target_).value();
    ASSERT_TRUE(staged.write("a", "new").ok());
    const StagedFolder moved(std::move(staged));
    EXPECT_EQ(get(moved.path("a")), "new");
    EXPECT_EQ(siblings(), 3U);
  }
  EXPECT_EQ(tree(root_), "bundle/ bundle/a=old ");
}

TEST_F(StagedFolderTest, OldModelsGoOtherFilesStayNewOnesWin) {
  put(target_ / "old.pt", "old model");
  put(target_ / "same.pt", "old");
  put(target_ / "notes.md", "mine");
  put(target_ / "models/gone.pt", "old model");
  put(target_ / "data/run/1.csv", "mine");
  put(target_ / "data/gone.pt", "old model");
  put(target_ / "both/mine", "mine");
  fs::create_directory(target_ / "empty");
  const ino_t notes = inode(target_ / "notes.md");

  auto staged = StagedFolder::create(target_).value();
  ASSERT_TRUE(staged.write("same.pt", "new").ok());
  ASSERT_TRUE(staged.write("both/new.pt", "new").ok());
  ASSERT_TRUE(staged.commit({"old.pt", "same.pt", "models/gone.pt", "data/gone.pt", "never.pt"}).ok());
  EXPECT_EQ(
      tree(target_),
      "both/ both/mine=mine both/new.pt=new data/ data/run/ data/run/1.csv=mine empty/ notes.md=mine same.pt=new ");
  EXPECT_EQ(inode(target_ / "notes.md"), notes);
  EXPECT_EQ(siblings(), 1U);
}

TEST_F(StagedFolderTest, SymlinksAreKeptAndNeverFollowed) {
  put(root_ / "precious/data.bin", "keep");
  put(target_ / "x", "old");
  fs::create_directory_symlink(root_ / "precious", target_ / "out");
  fs::create_symlink("x", target_ / "relative");
  fs::create_symlink("/nonexistent", target_ / "dangling");
  auto staged = StagedFolder::create(target_).value();
  ASSERT_TRUE(staged.write("y", "new").ok());
  ASSERT_TRUE(staged.commit({"out/data.bin", "x"}).ok());
  EXPECT_EQ(tree(target_), "dangling->/nonexistent out->" + (root_ / "precious").string() + " relative->x y=new ");
  EXPECT_EQ(get(root_ / "precious/data.bin"), "keep");
}

TEST_F(StagedFolderTest, ASymlinkToTheTargetStaysOne) {
  put(root_ / "disk/bundle/a", "old");
  fs::create_directory_symlink(root_ / "disk/bundle", target_);
  auto staged = StagedFolder::create(target_).value();
  ASSERT_TRUE(staged.write("b", "new").ok());
  ASSERT_TRUE(staged.commit({"a"}).ok());
  EXPECT_TRUE(fs::is_symlink(target_));
  EXPECT_EQ(tree(root_ / "disk"), "bundle/ bundle/b=new ");
}

TEST_F(StagedFolderTest, TheOpenLogEndsUpInTheNewFolder) {
  fs::create_directory(target_);
  auto logger = Logger::open(target_).value();
  logger->info("one");
  for (const char* line : {"two", "three"}) {
    auto staged = StagedFolder::create(target_).value();
    ASSERT_TRUE(staged.write("a", line).ok());
    ASSERT_TRUE(staged.commit({"a", "log.txt"}).ok());
    ASSERT_TRUE(logger->reopen(target_).ok());
    logger->info(line);
  }
  EXPECT_EQ(tree(target_), "a=three log.txt=[info] one\n[info] two\n[info] three\n ");
}

TEST_F(StagedFolderTest, ModesSurvive) {
  put(target_ / "sub/a", "x");
  fs::permissions(target_, fs::perms(0750));
  fs::permissions(target_ / "sub", fs::perms(0500));
  auto staged = StagedFolder::create(target_).value();
  ASSERT_TRUE(staged.commit({}).ok());
  EXPECT_EQ(fs::status(target_).permissions(), fs::perms(0750));
  EXPECT_EQ(fs::status(target_ / "sub").permissions(), fs::perms(0500));
  fs::permissions(target_ / "sub", fs::perms(0700));
}

TEST_F(StagedFolderTest, BadTargetsAreIoErrors) {
  put(root_ / "file", "text");
  fs::create_symlink("/nonexistent", root_ / "dangling");
  for (const fs::path& path : {root_ / "file", root_ / "file/x", root_ / "missing/x", root_ / "dangling",
                               fs::path("/proc/leapp_test"), root_ / std::string(300, 'x'), fs::path()}) {
    const auto result = StagedFolder::create(path);
    ASSERT_FALSE(result.ok()) << path;
    EXPECT_EQ(result.status().code(), StatusCode::kIo) << path;
    EXPECT_FALSE(result.status().message().empty());
  }
  EXPECT_FALSE(StagedFolder::create("/").ok());
  EXPECT_EQ(siblings(), 2U);
}

TEST_F(StagedFolderTest, NamesThatLeadOutAreRefused) {
  auto staged = StagedFolder::create(target_).value();
  for (const std::string& name : {std::string("../x"), std::string("/tmp/x"), std::string("a/../../x"), std::string(),
                                  std::string("."), std::string("a/"), std::string("a\0b", 3)}) {
    EXPECT_EQ(staged.write(name, "x").code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST_F(StagedFolderTest, AFullDiskLeavesTheOldFolder) {
  put(target_ / "a", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    auto staged = StagedFolder::create(target_).value();
    // A limit on the size of files makes write() fall short and then fail, as a full disk does.
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status status = staged.write("a", std::string(10000, 'x'));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_NE(status.message().find("cannot write"), std::string::npos) << status.message();
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(tree(root_), "bundle/ bundle/a=old ");
}

TEST_F(StagedFolderTest, AFailedCommitLeavesTheOldFolder) {
  put(target_ / "models/mine", "mine");
  {
    auto staged = StagedFolder::create(target_).value();
    ASSERT_TRUE(staged.write("models", "a file where the user has a folder").ok());
    const Status status = staged.commit({});
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_NE(status.message().find("models"), std::string::npos) << status.message();
  }
  EXPECT_EQ(tree(root_), "bundle/ bundle/models/ bundle/models/mine=mine ");
}

TEST_F(StagedFolderTest, ATargetThatBecameAFileIsLeftAlone) {
  {
    auto staged = StagedFolder::create(target_).value();
    put(target_, "someone else's");
    EXPECT_EQ(staged.commit({}).code(), StatusCode::kIo);
  }
  EXPECT_EQ(tree(root_), "bundle=someone else's ");
}

TEST_F(StagedFolderTest, CommitsOnce) {
  auto staged = StagedFolder::create(target_).value();
  ASSERT_TRUE(staged.commit({}).ok());
  EXPECT_EQ(staged.commit({}).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(staged.write("a", "x").code(), StatusCode::kFailedPrecondition);
}

/// `path` as if process `pid` had made it.
fs::path made_by(const fs::path& path, pid_t pid) {
  std::string name = path.string();
  const std::string own = "." + std::to_string(::getpid()) + ".";
  return name.replace(name.rfind(own), own.size(), "." + std::to_string(pid) + ".");
}

TEST_F(StagedFolderTest, LeftoversOfDeadProcessesAreRemoved) {
  put(target_ / "a", "old");
  const StagingNames names(target_);
  const fs::path dead_staged = made_by(names.fresh_staged(), dead_process());
  const fs::path dead_parked = made_by(names.fresh_parked(), dead_process());
  const fs::path alive = made_by(names.fresh_staged(), ::getppid());
  const fs::path other = made_by(StagingNames(root_ / "other").fresh_staged(), dead_process());
  const fs::path locked = made_by(names.fresh_staged(), dead_process());
  put(root_ / "precious", "keep");
  for (const fs::path& path : {dead_staged, dead_parked, alive, other, locked}) put(path / "x", "half");
  fs::create_symlink(root_ / "precious", dead_staged / "link");
  const FileDescriptor lock = lock_folder(locked);
  ASSERT_TRUE(lock.is_open());

  ASSERT_TRUE(StagedFolder::create(target_).ok());
  EXPECT_FALSE(fs::exists(dead_staged));
  EXPECT_FALSE(fs::exists(dead_parked));
  EXPECT_FALSE(fs::exists(alive));  // of a dead one, too, whose number another process has now: nobody holds its lock
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(locked));
  EXPECT_EQ(get(root_ / "precious"), "keep");
  EXPECT_EQ(get(target_ / "a"), "old");
}

TEST_F(StagedFolderTest, ACrashBetweenTwoRenamesIsRepaired) {
  put(made_by(StagingNames(target_).fresh_parked(), dead_process()) / "a", "old");
  ASSERT_TRUE(StagedFolder::create(target_).ok());
  EXPECT_EQ(tree(root_), "bundle/ bundle/a=old ");
}

TEST_F(StagedFolderTest, MakeBringsBackWhatWasBeingMoved) {
  put(made_by(StagingNames(target_).fresh_parked(), dead_process()) / "mine", "old");
  ASSERT_TRUE(StagedFolder::make(target_).ok());
  EXPECT_EQ(tree(root_), "bundle/ bundle/mine=old ");
  ASSERT_TRUE(StagedFolder::make(root_ / "a" / "b").ok());
  EXPECT_EQ(tree(root_ / "a"), "b/ ");
  put(root_ / "file", "x");
  EXPECT_EQ(StagedFolder::make(root_ / "file").code(), StatusCode::kIo);
  EXPECT_EQ(StagedFolder::make(root_ / "file" / "inside").code(), StatusCode::kIo);
}

TEST_F(StagedFolderTest, NamesThatOnlyLookLikeOursStay) {
  const std::string staged = StagingNames(target_).fresh_staged().string();
  const std::string prefix = staged.substr(0, staged.rfind("." + std::to_string(::getpid()) + "."));
  const std::string dead = std::to_string(dead_process());
  const std::vector<std::string> others{".mine", "." + dead, "." + dead + ".0x", ".-5.0", "." + dead + ".0.bak"};
  for (const std::string& other : others) put(prefix + other + "/x", "keep");
  ASSERT_TRUE(StagedFolder::create(target_).ok());
  for (const std::string& other : others) EXPECT_EQ(get(prefix + other + "/x"), "keep") << other;
}

TEST_F(StagedFolderTest, WhoWorksInTheFolderWorksInTheNewOne) {
  put(target_ / "sub" / "a", "x");
  const fs::path before = fs::current_path();
  for (const fs::path& place : {target_, target_ / "sub"}) {
    fs::current_path(place);
    auto staged = StagedFolder::create(target_).value();
    EXPECT_TRUE(staged.write("new", "x").ok());
    EXPECT_TRUE(staged.commit({}).ok());
    std::error_code error;
    EXPECT_EQ(fs::current_path(error), place) << error.message();
    EXPECT_TRUE(fs::exists(place / (place == target_ ? "new" : "a")));
  }
  fs::current_path(before);
}

TEST_F(StagedFolderTest, LongTargetNamesWork) {
  const fs::path target = root_ / std::string(255, 'n');
  for (int i = 0; i < 2; ++i) {
    auto staged = StagedFolder::create(target).value();
    ASSERT_TRUE(staged.write("a", "x").ok());
    ASSERT_TRUE(staged.commit({}).ok());
  }
  EXPECT_EQ(tree(target), "a=x ");
}

}  // namespace
}  // namespace leapp::bundle
