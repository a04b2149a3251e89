// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/annotations.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, AnAbandonedCallHasNotBegun) {
  input(at::ones({2}));
  EXPECT_TRUE(session_->annotations().abandon("n"));
  EXPECT_FALSE(session_->annotations().abandon("n"));
  call(at::ones({2}), [](const at::Tensor& x) { return x * 2; });
  EXPECT_EQ(session_->recording().call_passes.at("n").size(), 1U);
}

TEST_F(SessionTest, AnEdgeIsFoundByTheTensor) {
  at::Tensor features;
  {
    const at::Tensor x = input(at::ones({2}), "pre");
    features = x * 2;
    EXPECT_TRUE(output(features, "pre").ok());
  }
  const at::Tensor x = input(features.clone(), "policy");
  EXPECT_TRUE(output(x + 1, "policy").ok());
  EXPECT_TRUE(stop());
  ASSERT_TRUE(node(1).inputs[0].source);
  EXPECT_EQ(node(1).inputs[0].source->node, "pre");
  EXPECT_FALSE(node(1).inputs[0].source->feedback);
}

TEST_F(SessionTest, ResetsMayNotContradict) {
  input(at::ones({2}));
  Annotations& said = session_->annotations();
  EXPECT_TRUE(said.reset_from("n", {"h"}, "x").ok());
  EXPECT_TRUE(said.reset_from("n", {"h"}, "x").ok());
  EXPECT_EQ(said.reset_from("n", {"h"}, "").message(),
            "reset_from of state 'h' of node 'n': expected 'x' as before, "
            "found False");
}

TEST_F(SessionTest, ALaterCallThatIsNotFinishedIsDropped) {
  call(at::ones({2}), [](const at::Tensor& x) { return x * 2; });
  input(at::ones({2}));
  session_->annotations().abandon_all();
  EXPECT_FALSE(session_->annotations().is_open("n"));
  EXPECT_NE(log().find("call 1 of node 'n' is not finished and is dropped"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::capture
