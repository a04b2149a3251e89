// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/unguarded_variants.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::RecordedCalls;

std::string scaled(int pass, const std::string& number) {
  return fmt::format(R"(
call n in pass {}
graph n(%x: float32[2]) {{
  %0: float32[2] = aten::mul.Tensor(self=%x, other={})  @ "p.py":1
  return (y=%0)
}}
)",
                     pass, number);
}

std::string ways_text(const NodeRecord& record) {
  std::string text;
  for (const auto& way : record.variants.variants) {
    text += text.empty() ? "" : "; ";
    for (const auto& [call, pass] : way->taken) text += fmt::format("{} ", call);
  }
  return text;
}

TEST(Ways, CallsThatDoTheSameAreOfOneWay) {
  RecordedCalls calls(scaled(0, "2.0") + scaled(1, "3.0") + scaled(2, "2.0") + scaled(3, "3.0") + scaled(4, "2.0"));
  EXPECT_EQ(ways_text(calls.node("n")), "0 2 4 ; 1 3 ");
  EXPECT_TRUE(calls.node("n").variants.diverged);
}

TEST(Ways, OneWayNeedsNoCopy) {
  RecordedCalls calls(scaled(0, "2.0") + scaled(1, "2.0"));
  EXPECT_EQ(ways_text(calls.node("n")), "");
}

// Operators that make a difference to nobody: a state that the first call makes.
TEST(Ways, AnotherBeginningOfTheSameIsNoWay) {
  RecordedCalls calls(R"(
call n in pass 0
graph n(%x: float32[2]) {
  %z: float32[2] = aten::zeros(size=[2], dtype=float32, layout=None, device=None, pin_memory=None)  @ "p.py":1
  %0: float32[2] = aten::add.Tensor(self=%z, other=%x, alpha=1)  @ "p.py":2
  return (y=%0)
}
keep %0
call n in pass 1
graph n(%x: float32[2]) {
  %h = constant float32[2] [1, 2]
  %0: float32[2] = aten::add.Tensor(self=%h, other=%x, alpha=1)  @ "p.py":2
  return (y=%0)
}
constant %h named "h" at "p.py":2 from n %0 of pass 0
keep %0
)");
  EXPECT_EQ(ways_text(calls.node("n")), "");
  EXPECT_FALSE(calls.node("n").variants.diverged);
}

TEST(Ways, TooManyAreNone) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxWays + 1; ++i) text += scaled(static_cast<int>(i), fmt::format("{}.5", i));
  RecordedCalls calls(text);
  EXPECT_TRUE(calls.node("n").variants.given_up);
  EXPECT_EQ(ways_text(calls.node("n")), "");
}

}  // namespace
}  // namespace leapp::capture
