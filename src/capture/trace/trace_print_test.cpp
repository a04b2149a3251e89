// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_text.h"
#include "capture/trace/trace_text_testing.h"

namespace leapp::capture {
namespace {

using testing::kGuards;
using testing::kWholeTrace;

std::string printed_again(const std::string& text) {
  const auto trace = parse_trace(text);
  EXPECT_TRUE(trace.ok()) << trace.status().message();
  return trace.ok() ? print_trace(trace.value()) : "";
}

TEST(TracePrint, ReadsAndPrintsTheSame) { EXPECT_EQ(printed_again(kWholeTrace), kWholeTrace); }

TEST(TracePrint, WhatWasLeftOutStandsThere) {
  EXPECT_EQ(printed_again(R"(call n in pass 3
graph n(%x: float32[2]) {
  %sum: float32[2] = aten::add.Tensor(self=%x, other=1)
  return (y=%sum)
}
)"),
            R"(call n in pass 3
graph n(%x: float32[2]) {
  %sum: float32[2] = aten::add.Tensor(self=%x, other=1, alpha=1)
  return (y=%sum)
}
)");
}

// They stand behind an operator in the trace, which is not the program's.
TEST(TracePrint, ConstantOutputsAreWrittenBare) {
  const std::string text = "call n in pass 0\ngraph n() {\n  %c = constant float32[1] [1]\n  return (y=%c)\n}\n";
  EXPECT_EQ(printed_again(text), text);
}

TEST(TracePrint, GuardsAndRows) { EXPECT_EQ(printed_again(kGuards), kGuards); }

TEST(TracePrint, ATraceWithoutCallsIsEmpty) { EXPECT_EQ(print_trace({}), ""); }

}  // namespace
}  // namespace leapp::capture
