// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_blocks.h"

#include <ATen/Functions.h>

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

using testing::ScriptedFunction;

class ScriptedBlocksTest : public testing::SessionTest {
 protected:
  /// Runs all of a function of `x` inside a recording of its own.
  static void run_all(const char* source, const at::Tensor& x,
                      BlockRecording::Data data = BlockRecording::Data::kReal) {
    const ScriptedFunction function(source);
    BlockEnvironment world;
    world.add(x);
    BlockRecording recording(world, data);
    ScriptedRun run(function.code(), &recording);
    run.set(function.code().graph().inputs()[0], item_inside({x, {}}, recording));
    run_inside(run, recording, function.code().graph().block());
  }
};

TEST_F(ScriptedBlocksTest, ABlockThatRaisesIsToldFromOneThatFails) {
  EXPECT_NO_THROW(run_all("def f(x):\n    return x + 1\n", at::ones({2})));
  EXPECT_THROW(run_all("def f(x):\n    assert False, 'no'\n    return x\n", at::ones({2})), BlockRaises);
  EXPECT_THROW(run_all("def f(x):\n    return torch.matmul(x, torch.ones([3]))\n", at::ones({2})), FailsOnThisData);
}

TEST_F(ScriptedBlocksTest, WhatFailsOnTheDataIsTriedWithZeros) {
  const at::Tensor positions = at::tensor({7}, at::kLong);
  std::vector<BlockRecording::Data> tried;
  on_some_data([&](BlockRecording::Data data) {
    tried.push_back(data);
    run_all("def f(x):\n    return torch.index_select(torch.ones([2]), 0, x)\n", positions, data);
  });
  EXPECT_EQ(tried, (std::vector{BlockRecording::Data::kReal, BlockRecording::Data::kZeros}));
}

TEST_F(ScriptedBlocksTest, NumbersAndTheirTensors) {
  EXPECT_TRUE(number_in(at::scalar_tensor(true, at::kBool)).isBool());
  EXPECT_EQ(number_in(at::scalar_tensor(3, at::kLong)).toInt(), 3);
  EXPECT_EQ(number_in(at::scalar_tensor(0.5, at::kDouble)).toDouble(), 0.5);
  const ValueType type{at::kLong, {}};
  EXPECT_TRUE(at::equal(result_tensor({c10::IValue(std::int64_t{3}), {}}, type), at::scalar_tensor(3, at::kLong)));
  EXPECT_TRUE(at::equal(result_tensor({c10::IValue(), {}, true}, type), at::zeros({}, at::kLong)));
}

TEST_F(ScriptedBlocksTest, ResultsAreTensorsOfTheirOwn) {
  const ScriptedFunction function("def f(x):\n    return x\n");
  ScriptedRun run(function.code(), nullptr);
  const at::Tensor outside = at::ones({2});
  const at::Tensor made = at::zeros({2});
  BlockEnvironment world;
  world.add(outside);
  const std::vector<at::Tensor> results = apart(run, {outside, made, made}, world);
  EXPECT_FALSE(results[0].is_same(outside));
  EXPECT_TRUE(results[0].is_alias_of(outside));
  EXPECT_TRUE(results[1].is_same(made));
  EXPECT_FALSE(results[2].is_same(made));
  for (const at::Tensor& result : results) EXPECT_TRUE(run.is_chosen(result));
}

}  // namespace
}  // namespace leapp::capture
