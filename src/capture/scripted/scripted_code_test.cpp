// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_code.h"

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

using testing::ScriptedFunction;

TEST(ScriptedCode, StraightCodeIsLeftToTorch) {
  EXPECT_FALSE(ScriptedFunction("def f(x):\n    return x * 2\n").code().is_followed());
  EXPECT_FALSE(ScriptedFunction("def f(x, n: int):\n    y = x\n    if n > 3:\n        y = x + 1\n    return y\n")
                   .code()
                   .is_followed());
}

TEST(ScriptedCode, BranchesOnDataAndLoopsAreFollowed) {
  EXPECT_TRUE(ScriptedFunction("def f(x):\n    y = x\n    if bool(x.sum() > 0):\n        y = x + 1\n    return y\n")
                  .code()
                  .is_followed());
  EXPECT_TRUE(
      ScriptedFunction("def f(x):\n    for i in range(3):\n        x = x * 2\n    return x\n").code().is_followed());
}

TEST(ScriptedCode, WhatDecidesIsFollowedThroughNumbersAndRounds) {
  const ScriptedFunction by_data(
      "def f(x):\n    n = int(x[0])\n    while n > 0:\n        n = n - 1\n        x = x * 2\n    return x\n");
  EXPECT_TRUE(by_data.code().depends_on_data(by_data.find("prim::Loop")->blocks()[0]->outputs()[0]));
  const ScriptedFunction fixed(
      "def f(x):\n    n = 3\n    while n > 0:\n        n = n - 1\n        x = x * 2\n    return x\n");
  EXPECT_FALSE(fixed.code().depends_on_data(fixed.find("prim::Loop")->blocks()[0]->outputs()[0]));
}

TEST(ScriptedCode, AWriteBehindABranchMattersIfOthersCanSeeIt) {
  const char* const kText =
      "def f(x):\n    y = x\n    if bool(x.sum() > 0):\n        y = x * 2\n    y += 1\n    return y\n";
  const ScriptedFunction function(kText);
  torch::jit::Node* branch = function.find("prim::If");
  EXPECT_TRUE(function.code().shares_writes(branch, branch->outputs()[0]));
}

TEST(ScriptedCode, LinesAreThoseOfTheSource) {
  const ScriptedFunction function("def f(x):\n    for i in range(3):\n        x = x * 2\n    return x\n");
  EXPECT_NE(line_of(*function.find("prim::Loop")), 0U);
}

}  // namespace
}  // namespace leapp::capture
