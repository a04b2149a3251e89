// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/signals.h"

#include <gtest/gtest.h>

namespace leapp {
namespace {

TEST(AddressRanges, SayWhereARangeEnds) {
  AddressRanges<2> ranges;
  EXPECT_EQ(ranges.end_of(100), std::nullopt);
  const auto first = ranges.add(100, 200);
  ASSERT_TRUE(first);
  ASSERT_TRUE(ranges.add(300, 400));
  EXPECT_EQ(ranges.end_of(99), std::nullopt);
  EXPECT_EQ(ranges.end_of(100), 200U);
  EXPECT_EQ(ranges.end_of(399), 400U);
  EXPECT_EQ(ranges.end_of(200), std::nullopt);
  EXPECT_EQ(ranges.add(500, 600), std::nullopt) << "there are two places";
  ranges.remove(*first);
  EXPECT_EQ(ranges.end_of(150), std::nullopt);
  EXPECT_EQ(ranges.add(500, 600), first);
  EXPECT_EQ(ranges.end_of(550), 600U);
}

int g_told = 0;
struct ::sigaction g_before {};

void tell(int) { ++g_told; }
void hand_over(int signal, siginfo_t* info, void* context) { pass_on(g_before, signal, info, context); }

TEST(Signals, GoToWhoHadThemBefore) {
  struct ::sigaction theirs {};
  theirs.sa_handler = tell;
  ::sigaction(SIGUSR1, &theirs, nullptr);
  g_before = install_handler(SIGUSR1, hand_over);
  EXPECT_EQ(g_before.sa_handler, &tell);
  g_told = 0;
  ::raise(SIGUSR1);
  EXPECT_EQ(g_told, 1);
  ::signal(SIGUSR1, SIG_DFL);
}

TEST(SignalsDeathTest, ThatEndedTheProcessStillDo) {
  const auto sent = [] {
    g_before = install_handler(SIGUSR2, hand_over);
    ::raise(SIGUSR2);  // once: nothing would cause it again
    std::_Exit(0);
  };
  EXPECT_EXIT(sent(), ::testing::KilledBySignal(SIGUSR2), "");
}

}  // namespace
}  // namespace leapp
