// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/call_buffers.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, ABufferOfAModuleThatIsReplaced) {
  at::Tensor hidden = at::zeros({2});
  const at::Tensor x = input(at::ones({2}));
  EXPECT_TRUE(session_->annotations().module("n", {{"cell.h", [&] { return hidden; }}}).ok());
  hidden = hidden + x;
  EXPECT_TRUE(output(hidden * 2).ok());
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x cell_h=n/cell_h -> y cell_h");
  EXPECT_EQ(node().samples[0].inputs[1]->text(), "[0, 0]");
}

TEST_F(SessionTest, ARegisteredBufferThatIsOverwrittenFirstIsNoPort) {
  const at::Tensor x = input(at::ones({2}));
  const at::Tensor out = session_->annotations().register_buffer("n", {{"out", at::zeros({2})}}).value()[0];
  out.copy_(x);
  EXPECT_TRUE(output(out * 2).ok());
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x -> y");
}

TEST_F(SessionTest, ABufferThatIsGoneIsSaid) {
  at::Tensor hidden = at::zeros({2});
  const at::Tensor x = input(at::ones({2}));
  EXPECT_TRUE(session_->annotations().module("n", {{"h", [&] { return hidden; }}}).ok());
  const at::Tensor y = x + hidden;
  hidden = at::Tensor();
  EXPECT_TRUE(output(y).ok());
  EXPECT_NE(log().find("buffer 'h' of node 'n' is gone when the node closes"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
