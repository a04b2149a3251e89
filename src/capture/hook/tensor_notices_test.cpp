// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/tensor_notices.h"

#include <gtest/gtest.h>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, NoticesOfTensors) {
  const at::Tensor x = input(at::ones({2}));
  const at::Tensor y = x * 2;
  TensorNotices tensors = session_->tensors();
  EXPECT_TRUE(tensors.is_live(y));
  const at::Tensor twin = at::full({2}, 2.0);
  EXPECT_FALSE(tensors.is_live(twin));
  EXPECT_TRUE(tensors.mirror(y, twin).ok());
  EXPECT_TRUE(tensors.is_live(twin));
  EXPECT_FALSE(tensors.mirror(y, at::zeros({2})).ok());
  EXPECT_FALSE(tensors.mirror(y, at::zeros({3})).ok());
  const at::Tensor copy = at::full({2}, 2.0);
  tensors.copied(y, copy);
  EXPECT_TRUE(tensors.is_live(copy));
  tensors.rewritten(copy);
  EXPECT_FALSE(tensors.is_live(copy));
  tensors.release(twin);
  EXPECT_TRUE(output(y).ok());
}

}  // namespace
}  // namespace leapp::capture
