// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/op_recorder.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, AnOperatorOnTwoOpenNodesIsAnError) {
  const at::Tensor a = input(at::ones({2}), "a");
  const at::Tensor b = input(at::zeros({2}), "b");
  const at::Tensor both = a + b;
  const Status status = output(both, "a");
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("mixes values of two open nodes, 'a' and 'b'"), std::string::npos)
      << status.message();
}

TEST_F(SessionTest, OtherThreadsAreRecordedToo) {
  call(at::ones({2}), [](const at::Tensor& x) {
    at::Tensor y;
    std::thread([&] { y = x * 3; }).join();
    return y;
  });
  EXPECT_TRUE(stop());
  EXPECT_NE(graph().find("other=3"), std::string::npos);
}

}  // namespace
}  // namespace leapp::capture
