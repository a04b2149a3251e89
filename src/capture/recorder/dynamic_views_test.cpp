// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/dynamic_views.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, AnIndexThatIsATensorIsFollowed) {
  at::Tensor buffer = at::arange(3, at::kFloat);
  const at::Tensor i = input(at::ones({}, at::kLong));
  const at::Tensor view = session_->tensors().view_at({buffer, 0, i, at::Tensor(), std::nullopt});
  ASSERT_TRUE(view.defined());
  EXPECT_EQ(view.item<float>(), 1.0F);
  EXPECT_TRUE(output(view + 1).ok());
  EXPECT_TRUE(stop());
  EXPECT_NE(graph().find("aten::index.Tensor"), std::string::npos) << graph();
}

}  // namespace
}  // namespace leapp::capture
