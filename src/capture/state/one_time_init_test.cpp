// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/one_time_init.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

// if not self.ready: self.weight.div_(2); self.ready = True
constexpr const char* kRescaling = R"(
call net in pass 0
graph net(%x: float32[2]) {
  %w = constant float32[2] [2, 4]
  %0: float32[2] = aten::div.Tensor(self=%w, other=2)  @ "net.py":5
  %1: float32[2] = aten::mul.Tensor(self=%x, other=%0)  @ "net.py":7
  return (y=%1)
}
memory @w = float32[2] [2, 4]
wrote @w float32[2]
holds @w float32[2] = %0
keep %0
constant %w named "weight" at "net.py":5 copied overwritten in @w float32[2]
)";

constexpr const char* kReading = R"(
call net in pass 1
graph net(%x: float32[2]) {
  %w = constant float32[2] [1, 2]
  %1: float32[2] = aten::mul.Tensor(self=%x, other=%w)  @ "net.py":7
  return (y=%1)
}
memory @w
constant %w named "weight" at "net.py":7 in @w float32[2] from net %0 of pass 0
)";

TEST(OneTimeInit, WeightsThatTheFirstCallRescalesAreConstants) {
  Analysed result(std::string(kRescaling) + kReading);
  EXPECT_EQ(result.ports(), "net(x) -> (y)\n");
}

TEST(OneTimeInit, WhatEveryCallRescalesIsState) {
  std::string again = kRescaling;
  again.replace(again.find("pass 0"), 6, "pass 1");
  const std::string content = "memory @w = float32[2] [2, 4]";
  again.replace(again.find(content), content.size(), "memory @w");
  Analysed result(kRescaling + again);
  EXPECT_EQ(result.ports(), "net(x, weight = net/weight of the pass before) -> (y, weight)\n");
}

TEST(OneTimeInit, OneCallShowsNothing) {
  Analysed result(kRescaling);
  EXPECT_EQ(result.ports(), "net(x, weight = net/weight of the pass before) -> (y, weight)\n");
}

// What was there before is used besides: then the first call is another program.
TEST(OneTimeInit, NotWhenTheOldContentIsReadToo) {
  std::string both = kRescaling;
  const std::string product = "aten::mul.Tensor(self=%x, other=%0)";
  both.replace(both.find(product), product.size(), "aten::mul.Tensor(self=%x, other=%w)");
  Analysed result(both + kReading);
  EXPECT_NE(result.ports(), "net(x) -> (y)\n");
}

}  // namespace
}  // namespace leapp::capture
