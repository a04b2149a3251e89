// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/sink_constants.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

TEST(SinkConstants, OperandsThatAreConstantsBecomeTheGraphsOwn) {
  const std::string found = testing::after(R"(graph (%p: bool[], %x: float32[2]) {
  %w = parameter float32[2] [1, 2]
  %y: float32[2] = leapp::if(condition=%p, operands=[%x, %w], then=graph (%a: float32[2], %b: float32[2]) {
    %0: float32[2] = aten::mul.Tensor(self=%a, other=%b)
    return (0=%0)
  }, else=graph (%a: float32[2], %b: float32[2]) {
    return (0=%a)
  })
  %z: float32[2] = leapp::loop(count=None, condition=%p, carried=[%w], operands=[%w, %x], body=graph (%r: int64[], %c: float32[2], %b: float32[2], %x: float32[2]) {
    %q = constant bool[] [False]
    %0: float32[2] = aten::mul.Tensor(self=%c, other=%b)
    return (0=%q, 1=%0)
  })
  return (y=%y, z=%z)
}
)",
                                           sink_constants);
  EXPECT_NE(found.find("operands=[%x], then=graph (%a: float32[2]) {\n    %w = parameter float32[2] [1, 2]"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("carried=[%w], operands=[%x]"), std::string::npos) << found;
}

}  // namespace
}  // namespace leapp::graph
