// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/session_end.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, UnreadStateAsksWhoHoldsIt) {
  at::Tensor kept;
  call(at::ones({2}), [&](const at::Tensor& x) {
    kept = x * 3;
    return x * 2;
  });
  EXPECT_TRUE(stop());
  EXPECT_NE(log().find("node 'n' leaves a tensor in 'kept'"), std::string::npos) << log();
}

TEST_F(SessionTest, StateWithoutAnUpdateIsAnInput) {
  const at::Tensor x = input(at::ones({2}));
  const at::Tensor h = session_->annotations().state_tensors("n", {{"h", at::zeros({2})}}).value()[0];
  EXPECT_TRUE(output(x + h).ok());
  EXPECT_TRUE(stop());
  EXPECT_NE(log().find("state 'h' of node 'n' was never updated with update_state"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
