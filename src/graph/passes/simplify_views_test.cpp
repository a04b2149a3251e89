// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/simplify_views.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

TEST(SimplifyViews, JoinsAndRemoves) {
  EXPECT_EQ(testing::after(R"(graph (%x: float32[4,6], %s: float32[4,6]) {
  %0: float32[24] = aten::reshape(self=%x, shape=[-1])
  %1: float32[2,12] = aten::reshape(self=%0, shape=[2, 12])
  %2: float32[2,12] = aten::permute(self=%1, dims=[0, -1])
  %3: float32[6,4] = aten::permute(self=%x, dims=[1, 0])
  %4: float32[4,6] = aten::permute(self=%3, dims=[-1, 0])
  %5: float32[4,6] = aten::slice.Tensor(self=%4, dim=0, start=0, end=9223372036854775807, step=1)
  %6: float32[4,6] = aten::expand(self=%5, size=[4, 6], implicit=False)
  %7: float32[4,6] = aten::slice_scatter(self=%x, src=%s, dim=1, start=0, end=6, step=1)
  %8: float32[4,6] = aten::reshape(self=%1, shape=[4, 6])
  return (a=%2, b=%6, c=%7, d=%8)
}
)",
                           simplify_views),
            R"(graph (%x: float32[4,6], %s: float32[4,6]) {
  %1: float32[2,12] = aten::reshape(self=%x, shape=[2, 12])
  return (a=%1, b=%x, c=%s, d=%x)
}
)");
}

TEST(SimplifyViews, KeepsWhatChangesSomething) {
  const std::string text = R"(graph (%x: float32[3,3], %s: float64[3,3]) {
  %0: float32[3,3] = aten::permute(self=%x, dims=[1, 0])
  %1: float32[3,3] = aten::slice_scatter(self=%x, src=%s, dim=0, start=0, end=3, step=1)
  %2: float32[9] = aten::reshape(self=%0, shape=[9])
  return (a=%0, b=%1, c=%2)
}
)";
  EXPECT_EQ(testing::after(text, simplify_views), text);
}

}  // namespace
}  // namespace leapp::graph
