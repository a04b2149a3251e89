// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/common_subexpressions.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

TEST(CommonSubexpressions, MergesNodesInChains) {
  EXPECT_EQ(testing::after(R"(graph (%x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=nan)
  %1: float32[2] = aten::mul.Tensor(self=%x, other=nan)  @ "elsewhere.py":1
  %2: float32[2] = aten::relu(self=%0)
  %3: float32[2] = aten::relu(self=%1)
  return (a=%2, b=%3)
}
)",
                           merge_common_subexpressions),
            R"(graph (%x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=nan)
  %2: float32[2] = aten::relu(self=%0)
  return (a=%2, b=%2)
}
)");
}

TEST(CommonSubexpressions, KeepsWhatDiffers) {
  const std::string text = R"(graph (%x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=0.0)
  %1: float32[2] = aten::mul.Tensor(self=%x, other=-0.0)
  %2: float32[2] = aten::mul.Tensor(self=%x, other=0)
  %3: float32[2] = aten::mul.Scalar(self=%x, other=0)
  %4: float32[2] = aten::mul.Scalar(self=%x, other=False)
  %5: float32[2] = random aten::dropout(input=%x)
  %6: float32[2] = random aten::dropout(input=%x)
  %7: float32[2] = aten::f(a=int[], b=[1, 2])
  %8: float32[2] = aten::f(a=float[], b=[1, 2])
  %9: float32[2] = aten::f(a=float[], b=scalar[1, 2])
  %10: float64[2] = aten::f(a=float[], b=scalar[1, 2])
  return (a=%0, b=%1, c=%2, d=%3, e=%4, f=%5, g=%6, h=%7, i=%8, j=%9, k=%10)
}
)";
  EXPECT_EQ(testing::after(text, merge_common_subexpressions), text);
}

TEST(CommonSubexpressions, MergesConstantsAndKeepsGivenNames) {
  EXPECT_EQ(testing::after(R"(graph (%x: float32[2]) {
  %constant_0 = constant float32[2] [0, 1]
  %w = constant float32[2] [0, 1]
  %v = constant float32[2] [0, 1]
  %minus = constant float32[2] [-0, 1]
  %other_shape = constant float32[1,2] [0, 1]
  %0: float32[2] = aten::add.Tensor(self=%x, other=%constant_0, alpha=1)
  %1: float32[2] = aten::add.Tensor(self=%x, other=%v, alpha=1)
  return (a=%0, b=%1, c=%minus, d=%other_shape, e=%w)
}
)",
                           merge_common_subexpressions),
            R"(graph (%x: float32[2]) {
  %w = constant float32[2] [0, 1]
  %minus = constant float32[2] [-0, 1]
  %other_shape = constant float32[1,2] [0, 1]
  %0: float32[2] = aten::add.Tensor(self=%x, other=%w, alpha=1)
  return (a=%0, b=%0, c=%minus, d=%other_shape, e=%w)
}
)");
}

}  // namespace
}  // namespace leapp::graph
