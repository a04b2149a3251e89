// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/record_call.h"

#include <gtest/gtest.h>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, WhatIsWrittenInPlaceIsState) {
  at::Tensor t = at::zeros({1});
  for (int i = 0; i < 2; ++i) call(at::ones({1}), [&](const at::Tensor& x) { return x + t.add_(1); });
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x kept=n/kept -> y kept");
  EXPECT_EQ(node().samples[1].inputs[1]->text(), "[1]");
  EXPECT_EQ(node().samples[1].outputs[1]->text(), "[2]");
}

TEST_F(SessionTest, WhatIsReassignedIsState) {
  at::Tensor ema = at::zeros({2});
  for (int i = 0; i < 3; ++i) {
    call(at::full({2}, i), [&](const at::Tensor& x) { return (ema = ema * 0.5 + x) * 2; });
  }
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x kept=n/kept -> y kept");
  EXPECT_TRUE(node().divergences.empty());
}

TEST_F(SessionTest, DifferentCallsKeepTheirSamples) {
  start({.max_cached_io = 0});
  for (int i = 0; i < 3; ++i) call(at::ones({2}), [&](const at::Tensor& x) { return x * (i == 2 ? 0.5 : 1.5); });
  EXPECT_TRUE(stop());
  ASSERT_EQ(node().samples.size(), 2U);  // the first, and the one that differs
  EXPECT_EQ(node().samples[1].call, 2U);
  EXPECT_EQ(node().divergences.size(), 1U);
}

}  // namespace
}  // namespace leapp::capture
