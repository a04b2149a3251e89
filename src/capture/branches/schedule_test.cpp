// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace leapp::capture {
namespace {

std::vector<std::size_t> ways_of(const std::string& letters) {
  std::vector<std::size_t> ways;
  for (const char letter : letters) ways.push_back(static_cast<std::size_t>(letter - 'A'));
  return ways;
}

bool one_way(const std::set<std::size_t>& ways) { return ways.size() < 2; }

/// "warm-up+period", or "none".
std::string schedule_of(const std::string& letters, const IsDecided& is_decided = one_way) {
  const auto found = find_schedule(ways_of(letters), is_decided);
  return found ? std::to_string(found->warm_up) + "+" + std::to_string(found->period) : "none";
}

TEST(Schedule, ThePeriodOfAQueue) {
  EXPECT_EQ(schedule_of("ABBBABBB"), "0+4");
  EXPECT_EQ(schedule_of("ABBBABBBABBBAB"), "0+4");
  EXPECT_EQ(schedule_of("BBABBBABBB"), "0+4");  // it was half full
}

TEST(Schedule, WhatIsNotConfirmedIsNone) {
  EXPECT_EQ(schedule_of("ABBBABB"), "none");
  EXPECT_EQ(schedule_of("ABAB"), "none");  // four of five coins
  EXPECT_EQ(schedule_of("ABABAB"), "0+2");
  EXPECT_EQ(schedule_of("ABBBABBBAABB"), "none");
  EXPECT_EQ(schedule_of("AABABBBAABAB"), "none");
}

TEST(Schedule, WhatOnlyTheFirstCallsDo) {
  EXPECT_EQ(schedule_of("ABBBB"), "none");
  EXPECT_EQ(schedule_of("ABBBBB"), "1+1");
  EXPECT_EQ(schedule_of("CBBABBABB"), "1+3");
  EXPECT_EQ(schedule_of("AAABBBBB"), "3+1");
  EXPECT_EQ(schedule_of("AAAAABBBBBB"), "none");  // it may go on like that
}

TEST(Schedule, DataDecidesWithinAPhase) {
  // A and B, C and D are told apart by data.
  const auto pairs = [](const std::set<std::size_t>& ways) {
    return ways.size() < 2 || ways == std::set<std::size_t>{0, 1} || ways == std::set<std::size_t>{2, 3};
  };
  EXPECT_EQ(schedule_of("ACDBDCADCBCD", pairs), "0+3");
  EXPECT_EQ(schedule_of("ABBABAAB", pairs), "none");  // there is nothing to explain
}

// A counter that goes on only where data says so: each of A, B, C was seen once, and D, which data tells from them,
// confirms nothing.
TEST(Schedule, WhatDataDecidesConfirmsNothing) {
  const auto apart = [](const std::set<std::size_t>& ways) { return ways.size() - ways.count(3) < 2; };
  EXPECT_EQ(schedule_of("ABCDDDDDDDDDDD", apart), "none");
  EXPECT_EQ(schedule_of("ADDDABDDCDDDDD", apart), "none");
  EXPECT_EQ(schedule_of("ABCDBCADCABDABC", apart), "0+3");
}

TEST(Schedule, PhasesThatShareAWayAreOne) {
  using Sets = std::vector<std::set<std::size_t>>;
  EXPECT_EQ(group_phases({{0}, {1}, {1}, {1}}, one_way), (Sets{{0}, {1, 2, 3}}));
  const auto pairs = [](const std::set<std::size_t>& ways) { return !(ways.contains(0) && ways.contains(3)); };
  EXPECT_EQ(group_phases({{0}, {1}, {2, 3}, {1, 2}}, pairs), (Sets{{0}, {1, 2, 3}}));
  // Nobody saw that they do the same.
  EXPECT_EQ(group_phases({{0}, {1}}, pairs), (Sets{{0}, {1}}));
}

TEST(Schedule, PhasesOfCalls) {
  const Schedule schedule{2, 3};
  std::string phases;
  for (std::size_t call = 0; call < 9; ++call) phases += std::to_string(schedule.phase_of(call));
  EXPECT_EQ(phases, "012342342");
}

}  // namespace
}  // namespace leapp::capture
