// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/dead_code.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

TEST(DeadCode, DropsChainsAndConstants) {
  EXPECT_EQ(testing::after(R"(graph (%x: float32[2]) {
  %w = constant float32[2] [1, 2]
  %v = constant float32[2] [1, 2]
  %o = constant float32[] [1]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%w)
  %1: float32[2] = aten::add.Tensor(self=%0, other=%v, alpha=1)
  %2: float32[2] = random aten::rand_like(self=%1)
  aten::_assert(self=%1)
  return (y=%0, o=%o)
}
)",
                           eliminate_dead_code),
            R"(graph (%x: float32[2]) {
  %w = constant float32[2] [1, 2]
  %o = constant float32[] [1]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%w)
  return (y=%0, o=%o)
}
)");
}

TEST(DeadCode, OneUsedResultKeepsTheNode) {
  const std::string text = R"(graph (%x: float32[2,3]) {
  %0: float32[2], %1: int64[2] = aten::max.dim(self=%x, dim=1, keepdim=False)
  return (y=%1)
}
)";
  EXPECT_EQ(testing::after(text, eliminate_dead_code), text);
}

}  // namespace
}  // namespace leapp::graph
