// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/expand.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <vector>

namespace leapp::capture {
namespace {

TEST(Expand, ShowsWhatAnOperatorCalls) {
  const at::Tensor x = at::ones({1, 3});
  OperatorCall call{
      .op = "aten::silu", .overload = "", .inputs = {x}, .run = [&] { return std::vector<at::Tensor>{at::silu(x)}; }};
  const auto inside = record_inside(call);
  // A kernel of its own shows nothing; a composite one shows its operators.
  EXPECT_EQ(inside.status().code(), StatusCode::kUnimplemented);
  const at::Tensor y = at::zeros({1, 3});
  call = {.op = "aten::cosine_similarity", .overload = "", .inputs = {x, y}, .run = [&] {
            return std::vector<at::Tensor>{at::cosine_similarity(x, y)};
          }};
  const auto composite = record_inside(call);
  ASSERT_TRUE(composite.ok()) << composite.status().message();
  EXPECT_GT(composite.value().nodes().size(), 1U);
}

}  // namespace
}  // namespace leapp::capture
