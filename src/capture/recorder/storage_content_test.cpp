// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/storage_content.h"

#include <gtest/gtest.h>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, AViewWrittenToIsAWriteToItsBase) {
  at::Tensor history = at::zeros({3});
  call(at::ones({1}), [&](const at::Tensor& x) {
    const at::Tensor read = history * 2;
    history.narrow(0, 1, 1).copy_(x);
    return read + history;
  });
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x kept=n/kept -> y kept");
}

// What is read of it has been written before, or never changes.
TEST_F(SessionTest, WhatIsNotReadFromBeforeIsNoState) {
  at::Tensor history = at::zeros({3});
  call(at::ones({1}), [&](const at::Tensor& x) {
    history.narrow(0, 1, 1).copy_(x);
    return history * 2;
  });
  EXPECT_TRUE(stop());
  EXPECT_EQ(ports(), "x -> y");
}

}  // namespace
}  // namespace leapp::capture
