// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_types/torch_build.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

TEST(TorchBuildTest, MinorVersions) {
  EXPECT_EQ(torch_minor("2.13.0+cpu"), "2.13");
  EXPECT_EQ(torch_minor("2.6.0"), "2.6");
  EXPECT_EQ(torch_minor("2.15.0a0+git12"), "2.15");
  EXPECT_EQ(torch_minor("2.15a0"), "2.15");
  EXPECT_EQ(torch_minor("3"), "3");
}

TEST(TorchBuildTest, TheLibrariesSayWhichTheyAre) {
  EXPECT_FALSE(running_torch().empty());
  EXPECT_EQ(torch_minor(running_torch()), torch_minor(built_for_torch()));
  EXPECT_EQ(torch_mismatch(), "");
}

}  // namespace
}  // namespace leapp
