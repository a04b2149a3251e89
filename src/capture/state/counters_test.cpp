// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/counters.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

std::string counting_call(int pass, const std::string& type, const std::string& content) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %c = constant {} [{}]
  %1: float32[2] = aten::mul.Tensor(self=%x, other=%c)  @ "p.py":3
  return (y=%1)
}}
)",
                     pass, type, content);
}

std::string step_of(testing::Analysed& result) {
  const auto& divergences = result.node("n").divergences;
  return divergences.empty() ? "no difference" : divergences[0].step;
}

TEST(Counters, GrowByTheSameInEachCall) {
  testing::Analysed whole(counting_call(0, "int64[2]", "3, 5") + counting_call(1, "int64[2]", "4, 6") +
                          counting_call(2, "int64[2]", "5, 7") + counting_call(3, "int64[2]", "6, 8"));
  EXPECT_EQ(step_of(whole), "1");
  testing::Analysed time(counting_call(0, "float32[]", "0") + counting_call(1, "float32[]", "0.1") +
                         counting_call(2, "float32[]", "0.2") + counting_call(3, "float32[]", "0.3"));
  EXPECT_EQ(step_of(time), "0.1");
}

TEST(Counters, NotWhatAFewCallsHappenToShow) {
  testing::Analysed result(counting_call(0, "int64[]", "3") + counting_call(1, "int64[]", "4") +
                           counting_call(2, "int64[]", "5"));
  EXPECT_EQ(step_of(result), "");
}

TEST(Counters, NotWhatBeginsAnewOrGrowsHereAndThere) {
  testing::Analysed again(counting_call(0, "int64[]", "1") + counting_call(1, "int64[]", "2") +
                          counting_call(2, "int64[]", "3") + counting_call(3, "int64[]", "0"));
  EXPECT_EQ(step_of(again), "");
  testing::Analysed part(counting_call(0, "int64[2]", "1, 1") + counting_call(1, "int64[2]", "2, 1") +
                         counting_call(2, "int64[2]", "3, 1") + counting_call(3, "int64[2]", "4, 1"));
  EXPECT_EQ(step_of(part), "");
}

}  // namespace
}  // namespace leapp::capture
