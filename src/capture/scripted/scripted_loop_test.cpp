// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_loop.h"

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

class ScriptedLoopTest : public testing::ScriptedBodyTest {};

TEST_F(ScriptedLoopTest, ALoopOverACountThatDataSays) {
  const std::string text = of("    for i in range(int(x[0])):\n        x = x * 2 + i\n    return x\n");
  EXPECT_NE(text.find("leapp::loop(count=%"), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedLoopTest, AWhileHasNoCount) {
  const std::string text = of("    while bool(x.sum() < 100):\n        x = x * 2\n    return x\n");
  EXPECT_NE(text.find("leapp::loop(count=None"), std::string::npos) << text;
}

TEST_F(ScriptedLoopTest, NoRoundAtAll) {
  const std::string text = of("    for i in range(int(x[0]) - 2):\n        x = x * 2\n    return x + 1\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
}

TEST_F(ScriptedLoopTest, BreakAndEarlyReturn) {
  const std::string text =
      of("    for i in range(10):\n        if bool(x.sum() > 50):\n            break\n        if bool(x[0] > 1000):\n"
         "            return x - 1\n        x = x * 2\n    return x\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedLoopTest, WritesToWhatIsOutside) {
  const std::string text =
      of("    y = torch.zeros([3])\n    row = y[0]\n    for i in range(int(x[0])):\n        y += x\n        row *= 2\n"
         "    return y + row\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedLoopTest, AnElementAtTheRound) {
  const std::string text =
      of("    y = torch.zeros([3])\n    for i in range(int(x[0])):\n        y[i] = x[i] * 2\n    return y\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedLoopTest, AShapeThatGrowsIsRefusedWithTheReason) {
  const std::string text = of("    for i in range(int(x[0])):\n        x = torch.cat([x, x[:1]])\n    return x\n");
  EXPECT_EQ(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_NE(log().find("what it carries is float32[3] in one round and float32[4] in the next"), std::string::npos)
      << log();
}

TEST_F(ScriptedLoopTest, AListThatGrowsIsRefusedWithTheReason) {
  const std::string text = of(
      "    out = [x]\n    for i in range(int(x[0])):\n        out.append(x * i)\n    return torch.stack(out).sum(0)\n");
  EXPECT_EQ(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_NE(log().find("it changes a list"), std::string::npos) << log();
}

TEST_F(ScriptedLoopTest, WhatIsReplacedByItsFormerSelf) {
  const std::string text = of(
      "    before = x\n    now = x * 2\n    while bool(now.sum() < 100):\n        before = now\n        now = now * 2\n"
      "    return now - before\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
}

TEST_F(ScriptedLoopTest, WritingToWhatIsCarriedUnderTwoNamesIsRefused) {
  const std::string text = of(
      "    before = x * 1\n    now = x * 2\n    while bool(now.sum() < 100):\n        before = now\n        now += x\n"
      "    return now - before\n");
  EXPECT_EQ(text.find("leapp::loop("), std::string::npos) << text;
}

}  // namespace
}  // namespace leapp::capture
