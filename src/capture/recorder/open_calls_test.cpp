// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/open_calls.h"

#include <gtest/gtest.h>

namespace leapp::capture {
namespace {

TEST(OpenCalls, TheSameNodeGetsAnotherNumberEachTime) {
  OpenCalls calls;
  const ActivationId first = calls.open("n");
  calls.close(first);
  const ActivationId second = calls.open("n");
  EXPECT_NE(first, 0U);
  EXPECT_NE(second, first);
  EXPECT_EQ(calls.name_of(first), "(closed)");
  EXPECT_EQ(calls.name_of(second), "n");
  EXPECT_FALSE(calls.contains(first));
}

TEST(OpenCalls, TheOnlyOneIsNoneOfSeveral) {
  OpenCalls calls;
  EXPECT_EQ(calls.only(), 0U);
  EXPECT_FALSE(calls.any());
  const ActivationId a = calls.open("a");
  EXPECT_EQ(calls.only(), a);
  const ActivationId b = calls.open("b");
  EXPECT_EQ(calls.only(), 0U);
  EXPECT_TRUE(calls.any_unlocked());
  calls.close(a);
  EXPECT_EQ(calls.only(), b);
  calls.close(b);
  EXPECT_FALSE(calls.any_unlocked());
}

}  // namespace
}  // namespace leapp::capture
