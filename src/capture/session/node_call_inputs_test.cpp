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
using NodeCallInputs = testing::SessionTest;

TEST_F(NodeCallInputs, NamesAndOrderAreChecked) {
  EXPECT_EQ(output(at::ones({1})).code(), StatusCode::kFailedPrecondition);
  EXPECT_FALSE(session_->annotations().input_tensors("a/b", {{"x", at::ones({1})}}).ok());
  EXPECT_FALSE(session_->annotations().input_tensors("n", {{"x", at::ones({1})}, {"x", at::ones({1})}}).ok());
  EXPECT_EQ(session_->annotations().input_tensors("n", {{"x", at::Tensor()}}).status().code(), StatusCode::kWrongType);
  EXPECT_FALSE(session_->annotations().is_open("n"));
}

TEST_F(NodeCallInputs, TypesAreThoseOfTheFirstCall) {
  call(at::ones({2}), [](const at::Tensor& x) { return x * 2; });
  const auto other = session_->annotations().input_tensors("n", {{"x", at::ones({3})}});
  EXPECT_EQ(other.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(other.status().message(), "'x'")) << other.status().message();
  EXPECT_FALSE(session_->annotations().input_tensors("n", {{"x", at::ones({2}, at::kDouble)}}).ok());
}

TEST_F(NodeCallInputs, TheSameAnnouncedAgainIsThatInput) {
  const at::Tensor x = at::ones({2});
  const at::Tensor first = input(x);
  const at::Tensor again = input(x);
  EXPECT_TRUE(output(first + again).ok());
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x -> y");
  EXPECT_TRUE(says(graph(), "self=%x, other=%x")) << graph();
  EXPECT_FALSE(says(log(), "announced again")) << log();
}

TEST_F(NodeCallInputs, AnotherTensorReplacesIt) {
  (void)input(at::ones({2}));
  const at::Tensor second = input(at::zeros({2}));
  EXPECT_TRUE(output(second * 2).ok());
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x -> y");
  ASSERT_EQ(node().samples.size(), 1U);
  EXPECT_EQ(node().samples[0].inputs[0]->text(), "[0, 0]");
}

TEST_F(NodeCallInputs, AnInputIsNoState) {
  (void)input(at::ones({2}));
  const auto state = session_->annotations().state_tensors("n", {{"x", at::zeros({2})}});
  EXPECT_TRUE(says(state.status().message(), "'x' is announced with input_tensors and with state_tensors"))
      << state.status().message();
}

TEST_F(NodeCallInputs, AValueOfAnOpenNodeIsPublishedFirst) {
  const at::Tensor made = input(at::ones({2}), "a") * 2;
  const auto given = session_->annotations().input_tensors("b", {{"x", made}});
  EXPECT_TRUE(says(given.status().message(), "the tensor is a value of the open node 'a'")) << given.status().message();
  EXPECT_FALSE(session_->annotations().is_open("b"));
  EXPECT_TRUE(output(made, "a").ok());
  EXPECT_TRUE(session_->annotations().input_tensors("b", {{"x", made}}).ok());
}

}  // namespace
}  // namespace leapp::capture
