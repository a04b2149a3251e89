// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/torch_plugins.h"

#include <gtest/gtest.h>

#include <fstream>

namespace leapp::runtime {
namespace {

namespace fs = std::filesystem;

class TorchPluginsTest : public testing::Test {
 protected:
  TorchPluginsTest() : folder_(fs::path(testing::TempDir()) / "torch_plugins") {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "other");
  }
  ~TorchPluginsTest() override { fs::remove_all(folder_); }
  TorchPluginsTest(const TorchPluginsTest&) = delete;
  TorchPluginsTest& operator=(const TorchPluginsTest&) = delete;

  std::string add(const std::string& name) {
    std::ofstream(folder_ / name) << "x";
    return (folder_ / name).string();
  }

  fs::path folder_;
};

TEST_F(TorchPluginsTest, TheNewestTorchOfAFolderComesFirstAndFoldersKeepTheirOrder) {
  const std::string old = add("libleapp_engine_torch2_6.so");
  const std::string newest = add("libleapp_engine_torch2_15.so");
  const std::string next = add("libleapp_engine_torch2_9.so");
  const std::string other = add("other/libleapp_engine_torch3_0.so");
  const std::vector<std::string> expected{newest, next, old, other};
  EXPECT_EQ(torch_plugins_in({folder_, folder_ / "other", folder_}), expected);
}

TEST_F(TorchPluginsTest, WhatIsNamedOtherwiseIsNone) {
  for (const char* name : {"libleapp_engine_torch.so", "libleapp_engine_torch2.so", "libleapp_engine_torch2_x.so",
                           "libleapp_engine_torch_.so", "libleapp_engine_torch2_13.so.1",
                           "libleapp_engine_torch2_13_0.so", "libleapp_runtime.so", "engine_torch2_13.so"}) {
    add(name);
  }
  EXPECT_TRUE(torch_plugins_in({folder_}).empty());
  EXPECT_TRUE(torch_plugins_in({folder_ / "nowhere", ""}).empty());
}

TEST_F(TorchPluginsTest, FoldersBeginWithOurOwnAndGoOnWithTheLoaders) {
  const std::vector<fs::path> folders = plugin_folders();
  ASSERT_GT(folders.size(), 1U);
  EXPECT_EQ(fs::canonical(folders.front()), fs::canonical("/proc/self/exe").parent_path());
}

}  // namespace
}  // namespace leapp::runtime
