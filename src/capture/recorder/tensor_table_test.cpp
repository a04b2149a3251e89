// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/tensor_table.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, ATensorSharesItsMemoryWithOthers) {
  std::vector<float> memory(4, 1.0F);
  const at::Tensor one = at::from_blob(memory.data(), {4});
  const at::Tensor two = at::from_blob(memory.data() + 2, {2});
  call(at::ones({4}), [&](const at::Tensor& x) {
    one.copy_(x * 2);
    return two + 0;
  });
  EXPECT_TRUE(stop());
  EXPECT_NE(graph().find("aten::as_strided"), std::string::npos) << graph();
}

TEST_F(SessionTest, NamesOfParametersReachTheGraph) {
  const at::Tensor weight = at::full({2}, 3.0);
  session_->tensors().name(weight, "layer.weight", true);
  call(at::ones({2}), [&](const at::Tensor& x) { return x * weight; });
  EXPECT_TRUE(stop());
  EXPECT_NE(graph().find("%layer.weight = parameter float32[2] [3, 3]"), std::string::npos) << graph();
}

}  // namespace
}  // namespace leapp::capture
