// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/layout.h"

#include <gtest/gtest.h>

namespace leapp::graph {
namespace {

constexpr std::int64_t kN = kNew;
constexpr std::int64_t kO = kOther;
using Places = std::vector<std::int64_t>;
using Layouts = std::vector<FrameLayout>;

TEST(Layout, OldestFirst) {
  EXPECT_EQ(find_frames({4}, {1, 2, 3, kN}), (Layouts{{0, 0, 4, 4, 1, false}}));
  EXPECT_EQ(find_frames({6}, {2, 3, 4, 5, kN, kN}), (Layouts{{0, 0, 6, 3, 2, false}}));
  EXPECT_EQ(find_frames({1, 3, 2}, {2, 3, 4, 5, kN, kN}), (Layouts{{1, 0, 3, 3, 1, false}}));
}

TEST(Layout, NewestFirst) {
  EXPECT_EQ(find_frames({4}, {kN, 0, 1, 2}), (Layouts{{0, 0, 4, 4, 1, true}}));
  EXPECT_EQ(find_frames({6}, {kN, kN, 0, 1, 2, 3}), (Layouts{{0, 0, 6, 3, 2, true}}));
}

TEST(Layout, TheLastAxis) { EXPECT_EQ(find_frames({2, 3}, {1, 2, kN, 4, 5, kN}), (Layouts{{1, 0, 3, 3, 1, false}})); }

TEST(Layout, GroupsOfEqualHistoriesInOneAxis) {
  EXPECT_EQ(find_frames({1, 6}, {1, 2, kN, 4, 5, kN}), (Layouts{{1, 0, 6, 3, 1, false}}));
}

TEST(Layout, DifferentHistoriesInOneAxis) {
  EXPECT_EQ(find_frames({1, 7}, {1, 2, kN, 5, 6, kN, kN}), (Layouts{{1, 0, 3, 3, 1, false}, {1, 3, 7, 2, 2, false}}));
  EXPECT_EQ(find_frames({5}, {kN, 0, 3, 4, kN}), (Layouts{{0, 0, 2, 2, 1, true}, {0, 2, 5, 3, 1, false}}));
}

TEST(Layout, WhatIsNoHistoryIsLeftOut) {
  EXPECT_EQ(find_frames({4}, {1, 2, kN, kO}), (Layouts{{0, 0, 3, 3, 1, false}}));
  EXPECT_EQ(find_frames({4}, {0, 2, 3, kN}), (Layouts{{0, 1, 4, 3, 1, false}}));
}

TEST(Layout, AWholeFrame) {
  EXPECT_EQ(find_frames({1, 3}, {kN, kN, kN}), (Layouts{FrameLayout{}}));
  EXPECT_EQ(find_frames({}, {kN}), (Layouts{FrameLayout{}}));
  EXPECT_EQ(find_frames({3}, {kN, kN, 2}), (Layouts{{0, 0, 2, 1, 2, false}}));
}

TEST(Layout, NoShift) {
  EXPECT_TRUE(find_frames({4}, {0, 1, 2, 3}).empty());
  EXPECT_TRUE(find_frames({3}, {1, 2, 0}).empty()) << "what goes round never leaves";
  EXPECT_TRUE(find_frames({}, {kO}).empty());
  EXPECT_TRUE(find_frames({0}, {}).empty());
}

TEST(Layout, ShiftedByTwoWithOneAppended) {
  EXPECT_TRUE(find_frames({4}, {2, 3, 2, kN}).empty());
  EXPECT_TRUE(find_frames({5}, {2, 3, 4, kN, kN}).empty()) << "five places hold no whole number of frames of two";
}

TEST(Layout, RowsWhoseElementsDoNotGoTogether) {
  EXPECT_TRUE(find_frames({2, 2}, {3, 2, kN, kN}).empty()) << "shifted and exchanged";
}

TEST(Layout, TheNewestFrame) {
  EXPECT_EQ(newest_frame({1, 3, 2}, {1, 0, 3, 3, 1, false}), (Places{4, 5}));
  EXPECT_EQ(newest_frame({1, 3, 2}, {1, 0, 3, 3, 1, true}), (Places{0, 1}));
  EXPECT_EQ(newest_frame({2, 3}, {1, 0, 3, 3, 1, false}), (Places{2, 5}));
  EXPECT_EQ(newest_frame({1, 7}, {1, 1, 7, 3, 1, false}), (Places{3, 6}));
  EXPECT_EQ(newest_frame({2, 2}, {}), (Places{0, 1, 2, 3}));
}

}  // namespace
}  // namespace leapp::graph
