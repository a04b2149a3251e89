// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/mutation.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

// The functional form of every way of writing.
TEST_F(SessionTest, WritesBecomeValues) {
  call(at::ones({2, 2}), [](const at::Tensor& x) {
    at::Tensor y = at::empty({2, 2});
    y.copy_(x);
    y.select(0, 0).fill_(3);
    y.mul_(2);
    at::add_out(y, y, x);
    y.fill_diagonal_(5);
    return y.t_();
  });
  EXPECT_TRUE(stop());
  const std::string text = graph();
  for (const char* op : {"aten::mul.Scalar", "aten::add.Tensor", "aten::full"})
    EXPECT_NE(text.find(op), std::string::npos) << text;
  EXPECT_EQ(text.find("aten::mul_"), std::string::npos) << text;
}

}  // namespace
}  // namespace leapp::capture
