// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace_values.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/hook/op_info.h"
#include "capture/trace/trace_testing.h"
#include "graph/text.h"

namespace leapp::capture {
namespace {

using testing::says;

class TraceValues : public ::testing::Test {
 protected:
  Status add(const std::string& op) {
    const auto graph =
        graph::parse("graph n(%x: float32[2]) {\n  %c = parameter float32[2] [1, 2]\n  %0: float32[2] = " + op +
                     "  @ \"p.py\":7\n  return (y=%0)\n}\n");
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return add_values(graph.value(), call_, builder_);
  }

  TracedCall call_;
  TraceBuilder builder_{[](auto&&...) {}};
};

TEST_F(TraceValues, InputsConstantsAndResultsByTheirNames) {
  call_.trace.activation = 3;
  ASSERT_TRUE(add("aten::mul.Tensor(self=%x, other=%c)").ok());
  ASSERT_EQ(call_.values.size(), 3U);
  EXPECT_EQ(call_.values[0].first, "x");
  EXPECT_EQ(call_.values[0].second->owner, 3U);
  EXPECT_TRUE(call_.values[1].second->cell->parameter);
  const ValuePtr& result = call_.values[2].second;
  EXPECT_EQ(result->op->info->qualified_name(), "aten::mul.Tensor");
  EXPECT_EQ(result->owner, 3U);
  EXPECT_EQ(location_text(result->op->location), "p.py:7");
  ASSERT_EQ(call_.inputs.size(), 1U);
  ASSERT_EQ(call_.outputs.size(), 1U);
  EXPECT_EQ(call_.trace.outputs[0], result);
}

TEST_F(TraceValues, ArgumentsThatAreLeftOutHaveTheirDefaults) {
  ASSERT_TRUE(add("aten::add.Tensor(self=%x, other=%c)").ok());
  EXPECT_EQ(call_.values[2].second->op->arguments.at(2).attribute.toScalar().toInt(), 1);  // alpha
}

TEST_F(TraceValues, OperatorsAreTorchs) {
  EXPECT_TRUE(says(add("aten::nothing()").message(), "aten::nothing: torch has no such operator"));
  EXPECT_TRUE(says(add("aten::mul.Tensor(self=%x)").message(), "the argument 'other' is missing"));
  EXPECT_TRUE(says(add("aten::relu(self=%x, up=1)").message(), "it has no argument 'up'"));
  EXPECT_ANY_THROW((void)add("aten::to.device(self=%x, device=device(\"moon\"), dtype=float32)"));
}

}  // namespace
}  // namespace leapp::capture
