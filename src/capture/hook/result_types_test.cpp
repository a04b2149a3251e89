// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/result_types.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

TEST(ResultTypes, AreThoseOfTheFunctionalForm) {
  const OpInfo* div = op_info("aten::div_", "Tensor");
  const std::vector<c10::IValue> inputs = {at::ones({2}, at::kHalf), at::ones({2}, at::kFloat)};
  const auto types = result_dtypes(div->twin(), c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()));
  ASSERT_TRUE(types);
  EXPECT_EQ(types->at(0), at::kFloat);
}

}  // namespace
}  // namespace leapp::capture
