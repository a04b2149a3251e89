// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/block_environment.h"

#include "capture/hook/hook.h"
#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

class ScriptedWorldTest : public testing::SessionTest {};

TEST_F(ScriptedWorldTest, OneOperandForEachMemory) {
  const at::Tensor buffer = at::arange(6, at::kFloat);
  const at::Tensor alone = at::ones({2});
  BlockEnvironment world;
  world.add(buffer.slice(0, 0, 2));
  world.add(alone);
  EXPECT_EQ(world.size(), 2U);
  EXPECT_EQ(world.operand(0).numel(), 2);
  world.add(buffer.slice(0, 2, 4));
  EXPECT_EQ(world.size(), 2U);
  EXPECT_EQ(world.operand(0).numel(), 6);  // all of it, since two look at it
}

TEST_F(ScriptedWorldTest, ABlockRunsOnCopiesAndItsWritesAreOutputs) {
  const at::Tensor buffer = at::zeros({4});
  const at::Tensor part = buffer.slice(0, 1, 3);
  const at::Tensor rest = buffer.slice(0, 0, 2);
  BlockEnvironment world;
  world.add(part);
  world.add(rest);
  BlockRecording recording(world);
  const at::Tensor added = recording.add_input("c0", at::ones({2}));
  {
    const RecordInto into(recording.recorder());
    recording.inside(part).toTensor().add_(added);
  }
  EXPECT_TRUE(at::equal(buffer, at::zeros({4})));
  EXPECT_TRUE(recording.is_written(0));
  EXPECT_FALSE(recording.is_written(added));
  const graph::Graph graph =
      recording.graph({recording.inside(rest).toTensor(), recording.content(0)}, std::vector<std::size_t>{0});
  const std::string text = graph::print(graph);
  EXPECT_NE(text.find("(%c0: float32[2], %x0: float32[4])"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::as_strided_scatter"), std::string::npos) << text;
}

TEST_F(ScriptedWorldTest, AListThatChangesIsRefused) {
  const at::Tensor x = at::ones({2});
  const c10::List<at::Tensor> list({x});
  BlockEnvironment world;
  world.add(list);
  BlockRecording recording(world);
  auto inside = recording.inside(list).toList();
  recording.check();
  inside.push_back(recording.inside(x));
  EXPECT_THROW(recording.check(), Unrecordable);
  EXPECT_EQ(list.size(), 1U);
}

TEST_F(ScriptedWorldTest, ADecisionInsideIsRefused) {
  const at::Tensor x = at::ones({1});
  BlockEnvironment world;
  world.add(x);
  BlockRecording recording(world);
  {
    const RecordInto into(recording.recorder());
    EXPECT_TRUE(recording.inside(x).toTensor().is_nonzero());
  }
  EXPECT_THROW(recording.check(), Unrecordable);
}

}  // namespace
}  // namespace leapp::capture
