// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/free_variables.h"

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

using testing::ScriptedFunction;

class ScriptedSurroundingsTest : public testing::SessionTest {
 protected:
  /// A function of `x` and `y` up to its first branch, whose surroundings are asked for.
  static FreeVariables at_branch(const ScriptedFunction& function, ScriptedRun& run, const at::Tensor& x,
                                 const at::Tensor& y) {
    torch::jit::Node* branch = function.find("prim::If");
    const auto inputs = function.code().graph().inputs();
    run.set(inputs[0], {x, {}});
    run.set(inputs[1], {y, {}});
    for (torch::jit::Node* node : function.code().graph().nodes()) {
      if (node == branch) break;
      for (const torch::jit::Value* output : node->outputs()) {
        if (!run.knows(output)) run.set(output, {c10::IValue(), {}});
      }
    }
    return {run, branch->blocks()};
  }
};

constexpr const char* kBranch = "def f(x, y):\n    if bool(x.sum() > 0):\n        x = x + y\n    return x\n";

TEST_F(ScriptedSurroundingsTest, WhatBlocksReadAndDoNotMake) {
  const ScriptedFunction function(kBranch);
  ScriptedRun run(function.code(), nullptr);
  const FreeVariables around = at_branch(function, run, at::ones({2}), at::zeros({3}));
  EXPECT_EQ(around.world.size(), 2U);
  const auto inputs = function.code().graph().inputs();
  EXPECT_NE(std::find(around.free.begin(), around.free.end(), inputs[0]), around.free.end());
  EXPECT_NE(std::find(around.free.begin(), around.free.end(), inputs[1]), around.free.end());
  EXPECT_EQ(std::find(around.free.begin(), around.free.end(), function.find("prim::If")->output()), around.free.end());
}

TEST_F(ScriptedSurroundingsTest, TwoTensorsInOneMemoryAreOnePart) {
  const ScriptedFunction function(kBranch);
  ScriptedRun run(function.code(), nullptr);
  const at::Tensor memory = at::zeros({4});
  const FreeVariables around = at_branch(function, run, memory.slice(0, 0, 2), memory.slice(0, 2, 4));
  EXPECT_EQ(around.world.size(), 1U);
}

TEST_F(ScriptedSurroundingsTest, WhichOfThemABranchChoseIsRefused) {
  const ScriptedFunction function(kBranch);
  ScriptedRun run(function.code(), nullptr);
  const at::Tensor memory = at::zeros({4});
  const at::Tensor chosen = memory.slice(0, 0, 2);
  run.note_chosen(chosen);
  EXPECT_THROW((void)at_branch(function, run, chosen, memory.slice(0, 2, 4)), Unrecordable);
}

}  // namespace
}  // namespace leapp::capture
