// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/needed_leaks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/branches/path_testing.h"

namespace leapp::capture {
namespace {

using testing::says;

class NeededLeaksTest : public testing::PathTest {
 protected:
  std::string names() {
    std::string text;
    for (const Leak& leak : paths_[0]->leaks) text += leak.name + " ";
    return text;
  }
};

// if self.t > 0: pass;   self.t += 1;   y = x + self.h;   self.h = y
constexpr const char* kGuardAndOutput = R"(
call n in pass 0
graph n(%x: float32[2]) {
  %t = constant float32[] [0]
  %h = constant float32[2] [0, 0]
  %0: bool[] = aten::gt.Scalar(self=%t, other=0)  @ "p.py":1
  %1: float32[] = aten::add.Tensor(self=%t, other=1, alpha=1)  @ "p.py":2
  %2: float32[2] = aten::add.Tensor(self=%x, other=%h, alpha=1)  @ "p.py":3
  return (y=%2)
}
memory @t = float32[] [0]
wrote @t float32[]
holds @t float32[] = %1
memory @h = float32[2] [0, 0]
wrote @h float32[2]
holds @h float32[2] = %2
constant %t named "t" copied overwritten in @t float32[]
constant %h named "h" copied overwritten in @h float32[2]
guard %0 false at "p.py":1
)";

TEST_F(NeededLeaksTest, WhatOnlyAGuardDependedOnGoes) {
  record(kGuardAndOutput);
  ASSERT_TRUE(says(names(), "t "));
  ASSERT_TRUE(says(names(), "h "));
  drop_unneeded_leaks(*paths_[0]);
  EXPECT_EQ(names(), "h ");
}

TEST_F(NeededLeaksTest, WhatIsDeclaredStays) {
  record(kGuardAndOutput);
  for (Leak& leak : paths_[0]->leaks) leak.declared = true;
  const std::string before = names();
  drop_unneeded_leaks(*paths_[0]);
  EXPECT_EQ(names(), before);
}

}  // namespace
}  // namespace leapp::capture
