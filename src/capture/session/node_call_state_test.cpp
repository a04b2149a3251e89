// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "capture/session/node_call.h"
#include "capture/session/session_testing.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::says;
using NodeCallState = testing::SessionTest;

TEST_F(NodeCallState, DeclaredStateAndItsUpdate) {
  at::Tensor h = at::zeros({2});
  for (int i = 0; i < 2; ++i) {
    const at::Tensor x = input(at::ones({2}));
    const at::Tensor held = session_->annotations().state_tensors("n", {{"h", h}}).value()[0];
    h = session_->annotations().update_state("n", {{"h", held + x}}).value()[0];
    EXPECT_TRUE(output(h * 2).ok());
  }
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x h=n/h -> y h");
}

TEST_F(NodeCallState, UpdatesAreChecked) {
  const at::Tensor x = input(at::ones({2}));
  EXPECT_FALSE(session_->annotations().update_state("n", {{"h", x}}).ok());
  EXPECT_TRUE(session_->annotations().state_tensors("n", {{"h", at::zeros({2})}}).ok());
  EXPECT_FALSE(session_->annotations().update_state("n", {{"h", at::zeros({3})}}).ok());
  EXPECT_TRUE(session_->annotations().update_state("n", {{"h", x}}).ok());
  EXPECT_FALSE(session_->annotations().update_state("n", {{"h", x}}).ok());
}

TEST_F(NodeCallState, WhatIsRefusedChangesNothing) {
  const at::Tensor x = input(at::ones({2}));
  EXPECT_TRUE(session_->annotations().state_tensors("n", {{"h", at::zeros({2})}}).ok());
  const auto twice = session_->annotations().update_state("n", {{"h", x}, {"h", x}});
  EXPECT_TRUE(says(twice.status().message(), "state 'h' of node 'n' is given twice")) << twice.status().message();
  const auto none = session_->annotations().update_state("n", {{"h", at::Tensor()}});
  EXPECT_EQ(none.status().code(), StatusCode::kWrongType);
  EXPECT_TRUE(session_->annotations().update_state("n", {{"h", x}}).ok());  // as if nothing had been said
}

TEST_F(NodeCallState, TheNextValueIsOfTheNodeItself) {
  const at::Tensor others = input(at::ones({2}), "other") * 2;
  (void)input(at::ones({2}));
  EXPECT_TRUE(session_->annotations().state_tensors("n", {{"h", at::zeros({2})}}).ok());
  const auto updated = session_->annotations().update_state("n", {{"h", others}});
  EXPECT_TRUE(says(updated.status().message(), "the tensor is a value of node 'other'")) << updated.status().message();
}

TEST_F(NodeCallState, DeclaredAgainItBeginsAnewAndItsUpdateIsForgotten) {
  const at::Tensor x = input(at::ones({2}));
  (void)session_->annotations().state_tensors("n", {{"h", at::zeros({2})}}).value();
  EXPECT_TRUE(session_->annotations().update_state("n", {{"h", x}}).ok());
  const at::Tensor held = session_->annotations().state_tensors("n", {{"h", at::ones({2})}}).value()[0];
  EXPECT_TRUE(session_->annotations().update_state("n", {{"h", held + 1}}).ok());
  EXPECT_TRUE(output(held * 2).ok());
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x h=n/h -> y h");
  EXPECT_EQ(node().samples[0].inputs[1]->text(), "[1, 1]");
}

TEST_F(NodeCallState, ABufferNeedsANameOfItsOwn) {
  (void)input(at::ones({2}));
  const at::Tensor memory = at::zeros({2});
  const auto as_input = session_->annotations().register_buffer("n", {{"x", memory}});
  EXPECT_TRUE(says(as_input.status().message(), "'x' is the name of an input already")) << as_input.status().message();
  EXPECT_TRUE(session_->annotations().register_buffer("n", {{"m", memory}}).ok());
  EXPECT_TRUE(session_->annotations().register_buffer("n", {{"m", memory}}).ok());  // the same once more
  const auto other = session_->annotations().register_buffer("n", {{"m", at::zeros({2})}});
  EXPECT_TRUE(says(other.status().message(), "'m' is the name of another buffer already")) << other.status().message();
}

}  // namespace
}  // namespace leapp::capture
