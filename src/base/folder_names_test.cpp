// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/folder_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace leapp {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(FolderNames, SortedAndWithoutDots) {
  const fs::path folder = fs::temp_directory_path() / ("leapp_folder_names." + std::to_string(::getpid()));
  fs::create_directories(folder / "b");
  for (const char* name : {"c", ".hidden", "a"}) std::ofstream(folder / name) << name;
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(folder_names(folder, error), (Names{".hidden", "a", "b", "c"}));
  EXPECT_FALSE(error);
  EXPECT_EQ(folder_names(folder / "b", error), Names{});
  EXPECT_FALSE(error);
  EXPECT_EQ(folder_names(folder / "a", error), Names{});
  EXPECT_EQ(error, std::errc::not_a_directory);
  EXPECT_EQ(folder_names(folder / "nowhere", error), Names{});
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace leapp
