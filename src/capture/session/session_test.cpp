// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/session.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

#include "capture/hook/hook.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, OperatorsBetweenInputAndOutputAreTheGraph) {
  front_end_->line_ = 7;
  call(at::ones({2}), [](const at::Tensor& x) { return (x * 2).relu(); });
  EXPECT_TRUE(stop());
  EXPECT_EQ(graph(), R"(graph n(%x: float32[2]) {
  %0: float32[2] = aten::mul.Scalar(self=%x, other=2)  @ "program.py":7
  %1: float32[2] = aten::relu(self=%0)  @ "program.py":7
  return (y=%1)
}
)");
  EXPECT_TRUE(at::equal(tensor_of(node().samples[0].outputs[0]), at::full({2}, 2.0)));
  EXPECT_FALSE(hook_installed());
}

TEST_F(SessionTest, WhatIsLostIsToldByEveryCallAndIsNoModel) {
  call(at::ones({2}), [](const at::Tensor& x) { return x * 2; });
  session_->mark_incomplete(StatusCode::kOutOfMemory);
  for (int i = 0; i < 2; ++i) {
    const auto result = session_->annotations().input_tensors("n", {{"x", at::ones({2})}});
    EXPECT_EQ(result.status().code(), StatusCode::kOutOfMemory);
    EXPECT_NE(result.status().message().find("what was recorded is not complete, because memory ran out"),
              std::string::npos);
  }
  EXPECT_EQ(session_->stop().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(session_->recording().lost, StatusCode::kOutOfMemory);
  EXPECT_FALSE(hook_installed());
}

TEST_F(SessionTest, AnExceptionThatLeavesTheLockLosesTheRecording) {
  const auto recorder = recorder_of_thread();
  EXPECT_THROW(
      {
        const auto guard = recorder->lock();
        throw std::bad_alloc();
      },
      std::bad_alloc);
  EXPECT_FALSE(recorder->is_complete());
  EXPECT_FALSE(stop());
}

TEST_F(SessionTest, StopDropsWhatIsOpen) {
  input(at::ones({2}), "open");
  EXPECT_TRUE(stop());
  EXPECT_TRUE(session_->stopped());
  EXPECT_NE(log().find("node 'open' was opened and never closed"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
