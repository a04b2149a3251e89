// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/hook.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, OurOwnOperatorsAreNot) {
  call(at::ones({2}), [](const at::Tensor& x) {
    const at::Tensor y = x * 2;
    const Unrecorded quiet;
    x.neg();
    return y;
  });
  EXPECT_TRUE(stop());
  EXPECT_EQ(graph().find("aten::neg"), std::string::npos);
}

}  // namespace
}  // namespace leapp::capture
