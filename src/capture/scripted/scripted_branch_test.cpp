// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_branch.h"

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

class ScriptedBranchTest : public testing::ScriptedBodyTest {};

TEST_F(ScriptedBranchTest, EachSideIsAGraphAndTheConditionItsFirstOperand) {
  const std::string text =
      of("    if bool(x.sum() > 0):\n        y = x * 2\n    else:\n        y = x - 1\n    return y\n");
  EXPECT_NE(text.find("leapp::if(condition=%"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::mul"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::sub"), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedBranchTest, WhatOneSideWritesToComesOutOfBoth) {
  const std::string text =
      of("    y = torch.zeros([3])\n    if bool(x.sum() > 100):\n        y += x\n    return y * 2\n");
  EXPECT_NE(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedBranchTest, ANumberThatOneSideChoosesIsATensorOfTheModel) {
  const std::string text = of("    k = 1\n    if bool(x.sum() > 0):\n        k = int(x[1])\n    return x * k\n");
  EXPECT_NE(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(text.find("int64[]"), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedBranchTest, ResultsOfTwoTypesAreRefusedWithBoth) {
  const std::string text =
      of("    if bool(x.sum() > 0):\n        y = x * 2\n    else:\n        y = x[:2]\n    return y\n");
  EXPECT_EQ(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(log().find("is float32[3] on one side and float32[2] on the other"), std::string::npos) << log();
}

TEST_F(ScriptedBranchTest, ASideThatRaisesLeavesTheOther) {
  const std::string text = of("    if bool(x.sum() < 0):\n        assert False, 'negative'\n    return x * 2\n");
  EXPECT_EQ(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(text.find("aten::mul"), std::string::npos) << text;
}

TEST_F(ScriptedBranchTest, BranchesInLoopsInBranches) {
  const std::string text =
      of("    y = x\n    if bool(x[0] > 0):\n        for i in range(int(x[1])):\n            if bool(y.sum() > 10):\n"
         "                y = y - x\n            else:\n                y = y * 2\n    return y\n");
  const std::size_t loop = text.find("leapp::loop(");
  EXPECT_LT(text.find("leapp::if("), loop);
  EXPECT_NE(text.find("leapp::if(", loop), std::string::npos) << text;
  EXPECT_FALSE(warned()) << log();
}

TEST_F(ScriptedBranchTest, ASideThatFailsOnThisDataIsThereAllTheSame) {
  const std::string text =
      of("    table = torch.zeros([2])\n    k = x.sum().long()\n    y = x[0]\n    if bool(k < 2):\n        y = "
         "torch.index_select(table, 0, k.reshape(1))[0]\n    return y\n");
  EXPECT_NE(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(text.find("aten::index_select"), std::string::npos) << text;
}

TEST_F(ScriptedBranchTest, AWriteToWhatIsAnotherTensorOnTheOtherWayIsRefused) {
  const std::string text =
      of("    y = x\n    if bool(x.sum() > 100):\n        y = x * 2\n    y += 1\n    return y + x\n");
  EXPECT_EQ(text.find("leapp::if("), std::string::npos) << text;
  EXPECT_NE(log().find("is written to afterwards"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
