// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace leapp::bundle {

/// A scratch folder per test.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "leapp_bundle_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = std::filesystem::canonical(name);
    target_ = root_ / "bundle";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  static void put(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  static std::string get(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  /// Everything below `folder`, sorted: "name=content" for files, "name/" for folders, "name->target" for symlinks.
  static std::string tree(const std::filesystem::path& folder) {
    std::vector<std::string> lines;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().lexically_relative(folder).string();
      if (entry.is_symlink()) {
        lines.push_back(name + "->" + std::filesystem::read_symlink(entry.path()).string());
      } else {
        lines.push_back(entry.is_directory() ? name + "/" : name + "=" + get(entry.path()));
      }
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line + " ";
    return text;
  }

  std::filesystem::path root_;
  std::filesystem::path target_;
};

}  // namespace leapp::bundle
