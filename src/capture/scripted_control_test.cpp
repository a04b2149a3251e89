// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted_control.h"

#include "capture/scripted_testing.h"

namespace leapp::capture {
namespace {

class ScriptedControlTest : public testing::ScriptedTest {
 protected:
  std::string of(const std::string& body) { return recorded("def f(x):\n" + body, at::tensor({2.0F, 3.0F, 1.0F})); }
  [[nodiscard]] bool warned() { return log().find("[warning]") != std::string::npos; }
};

TEST_F(ScriptedControlTest, ALoopOverACountThatDataSays) {
  const std::string text = of("    for i in range(int(x[0])):\n        x = x * 2 + i\n    return x\n");
  EXPECT_NE(text.find("leapp::loop(count=%"), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedControlTest, AWhileHasNoCount) {
  const std::string text = of("    while bool(x.sum() < 100):\n        x = x * 2\n    return x\n");
  EXPECT_NE(text.find("leapp::loop(count=None"), std::string::npos) << text;
}

TEST_F(ScriptedControlTest, NoRoundAtAll) {
  const std::string text = of("    for i in range(int(x[0]) - 2):\n        x = x * 2\n    return x + 1\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
}

TEST_F(ScriptedControlTest, BreakAndEarlyReturn) {
  const std::string text =
      of("    for i in range(10):\n        if bool(x.sum() > 50):\n            break\n        if bool(x[0] > 1000):\n"
         "            return x - 1\n        x = x * 2\n    return x\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedControlTest, WritesToWhatIsOutside) {
  const std::string text =
      of("    y = torch.zeros([3])\n    row = y[0]\n    for i in range(int(x[0])):\n        y += x\n        row *= 2\n"
         "    return y + row\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedControlTest, AnElementAtTheRound) {
  const std::string text =
      of("    y = torch.zeros([3])\n    for i in range(int(x[0])):\n        y[i] = x[i] * 2\n    return y\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedControlTest, AShapeThatGrowsIsRefusedWithTheReason) {
  const std::string text = of("    for i in range(int(x[0])):\n        x = torch.cat([x, x[:1]])\n    return x\n");
  EXPECT_EQ(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_NE(log().find("what it carries is float32[3] in one round and float32[4] in the next"), std::string::npos)
      << log();
}

TEST_F(ScriptedControlTest, AListThatGrowsIsRefusedWithTheReason) {
  const std::string text = of(
      "    out = [x]\n    for i in range(int(x[0])):\n        out.append(x * i)\n    return torch.stack(out).sum(0)\n");
  EXPECT_EQ(text.find("leapp::loop("), std::string::npos) << text;
  EXPECT_NE(log().find("it changes a list"), std::string::npos) << log();
}

TEST_F(ScriptedControlTest, BranchesInLoopsInBranches) {
  const std::string text =
      of("    y = x\n    if bool(x[0] > 0):\n        for i in range(int(x[1])):\n            if bool(y.sum() > 10):\n"
         "                y = y - x\n            else:\n                y = y * 2\n    return y\n");
  const std::size_t loop = text.find("leapp::loop(");
  EXPECT_LT(text.find("leapp::if("), loop);
  EXPECT_NE(text.find("leapp::if(", loop), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedControlTest, ASideThatFailsOnThisDataIsThereAllTheSame) {
  const std::string text =
      of("    table = torch.zeros([2])\n    k = x.sum().long()\n    y = x[0]\n    if bool(k < 2):\n        y = "
         "torch.index_select(table, 0, k.reshape(1))[0]\n    return y\n");
  EXPECT_NE(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(text.find("aten::index_select"), std::string::npos) << text;
}

TEST_F(ScriptedControlTest, AWriteToWhatIsAnotherTensorOnTheOtherWayIsRefused) {
  const std::string text =
      of("    y = x\n    if bool(x.sum() > 100):\n        y = x * 2\n    y += 1\n    return y + x\n");
  EXPECT_EQ(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(log().find("is written to afterwards"), std::string::npos) << log();
}

TEST_F(ScriptedControlTest, WhatIsReplacedByItsFormerSelf) {
  const std::string text = of(
      "    before = x\n    now = x * 2\n    while bool(now.sum() < 100):\n        before = now\n        now = now * 2\n"
      "    return now - before\n");
  EXPECT_NE(text.find("leapp::loop("), std::string::npos) << text;
}

TEST_F(ScriptedControlTest, WritingToWhatIsCarriedUnderTwoNamesIsRefused) {
  const std::string text = of(
      "    before = x * 1\n    now = x * 2\n    while bool(now.sum() < 100):\n        before = now\n        now += x\n"
      "    return now - before\n");
  EXPECT_EQ(text.find("leapp::loop("), std::string::npos) << text;
}

}  // namespace
}  // namespace leapp::capture
