// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/slice.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

TEST(Slice, HasWhatTheValuesNeedInTheOrderOfTheProgram) {
  const auto trace = parse_trace(R"(
call n in pass 0
graph n(%x: float32[2]) {
  %b = constant float32[2] [1, 2]
  %a = constant float32[2] [3, 4]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%a)
  %1: float32[2] = aten::neg(self=%x)
  %2: float32[2] = aten::mul.Tensor(self=%0, other=%b)
  return (y=%2)
}
)");
  ASSERT_TRUE(trace.ok());
  const Slice slice = slice_of(trace.value().calls[0].trace.outputs);
  ASSERT_EQ(slice.ops.size(), 2U);
  EXPECT_LT(slice.ops[0]->sequence, slice.ops[1]->sequence);
  ASSERT_EQ(slice.constants.size(), 2U);
  EXPECT_EQ(slice.constants[0]->copy()->text(), "[3, 4]");
  seal_constants(slice);
  EXPECT_EQ(slice.constants[1]->content_hash, slice.constants[1]->hash());
}

TEST(Slice, ConstantsThatAreNoneAreReported) {
  const auto trace = parse_trace(R"(
call n in pass 0
graph n(%x: float32[2]) {
  %a = constant float32[2] [3, 4]
  %b = constant float32[2] [3, 4]
  %0: float32[2] = aten::mul.Tensor(self=%x, other=%a)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=%b)
  return (y=%1)
}
constant %a named "a" at "n.py":1 overwritten
constant %b at "n.py":2 from pre/y of pass 0 through "aten::neg"
)");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  testing::TestLog log;
  report_constants("n", slice_of(trace.value().calls[0].trace.outputs), log.log());
  EXPECT_NE(log.text().find("n.py:1: node 'n' reads 'a', which is overwritten later"), std::string::npos);
  EXPECT_NE(log.text().find("n.py:2: node 'n' reads what aten::neg computed from pre/y outside any node"),
            std::string::npos)
      << log.text();
}

}  // namespace
}  // namespace leapp::capture
