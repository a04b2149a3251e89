// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/node_call.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, CallsMustMatchTheFirst) {
  call(at::ones({2}), [](const at::Tensor& x) { return x * 2; });
  EXPECT_EQ(session_->annotations().input_tensors("n", {{"x", at::ones({3})}}).status().code(),
            StatusCode::kInvalidArgument);
  const at::Tensor x = input(at::ones({2}));
  const auto wrong = session_->annotations().output_tensors("n", {{"z", x * 2}}, {}, {});
  EXPECT_NE(wrong.status().message().find("missing: 'y'; new: 'z'"), std::string::npos) << wrong.status().message();
  EXPECT_TRUE(session_->annotations().is_open("n"));
  EXPECT_TRUE(output(x * 2).ok());
}

TEST_F(SessionTest, NamesAndOrderAreChecked) {
  EXPECT_EQ(output(at::ones({1})).code(), StatusCode::kFailedPrecondition);
  EXPECT_FALSE(session_->annotations().input_tensors("a/b", {{"x", at::ones({1})}}).ok());
  EXPECT_FALSE(session_->annotations().input_tensors("n", {{"x", at::ones({1})}, {"x", at::ones({1})}}).ok());
  EXPECT_EQ(session_->annotations().input_tensors("n", {{"x", at::Tensor()}}).status().code(), StatusCode::kWrongType);
  EXPECT_FALSE(session_->annotations().is_open("n"));
}

TEST_F(SessionTest, DeclaredStateAndItsUpdate) {
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

TEST_F(SessionTest, UpdatesAreChecked) {
  const at::Tensor x = input(at::ones({2}));
  EXPECT_FALSE(session_->annotations().update_state("n", {{"h", x}}).ok());
  EXPECT_TRUE(session_->annotations().state_tensors("n", {{"h", at::zeros({2})}}).ok());
  EXPECT_FALSE(session_->annotations().update_state("n", {{"h", at::zeros({3})}}).ok());
  EXPECT_TRUE(session_->annotations().update_state("n", {{"h", x}}).ok());
  EXPECT_FALSE(session_->annotations().update_state("n", {{"h", x}}).ok());
}

}  // namespace
}  // namespace leapp::capture
