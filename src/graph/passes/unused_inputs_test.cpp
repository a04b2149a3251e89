// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/unused_inputs.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

TEST(UnusedInputs, DropsAndNames) {
  std::vector<std::string> dropped;
  EXPECT_EQ(testing::after(R"(graph (%a: float32[2], %"b c": float32[2], %d: float32[2], %e: float32[2]) {
  %0: float32[2] = aten::relu(self=%a)
  return (y=%0, d=%d)
}
)",
                           [&](Graph& graph) {
                             auto names = drop_unused_inputs(graph);
                             dropped.insert(dropped.end(), names.begin(), names.end());
                             return !names.empty();
                           }),
            R"(graph (%a: float32[2], %d: float32[2]) {
  %0: float32[2] = aten::relu(self=%a)
  return (y=%0, d=%d)
}
)");
  EXPECT_EQ(dropped, (std::vector<std::string>{"b c", "e"}));
}

}  // namespace
}  // namespace leapp::graph
