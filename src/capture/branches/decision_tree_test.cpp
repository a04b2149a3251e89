// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/decision_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

class DecisionTreeTest : public ::testing::Test {
 protected:
  /// A guard of that line. 'T', 'F'; 'E': one whose both answers led the same way.
  static BranchCondition guard(int line, char answer) {
    BranchCondition made{.op = std::make_shared<TraceOp>(), .rows = answer == 'E', .taken = answer == 'T'};
    made.op->info = op_info("aten::is_nonzero", "");
    made.op->location = intern_location("tree.py", line, "");
    made.either = answer == 'E';
    return made;
  }
  /// One of every line from 1 on.
  static std::vector<BranchCondition> guards(const std::string& answers) {
    std::vector<BranchCondition> made;
    for (std::size_t i = 0; i < answers.size(); ++i) made.push_back(guard(static_cast<int>(i) + 1, answers[i]));
    return made;
  }
  bool add(const std::string& answers) { return tree_.add(count_++, guards(answers)); }
  /// "(#1 ? path 0 : path 1)" as "(1?0:1)".
  [[nodiscard]] std::string text() const {
    const auto leaf = [](std::size_t path) { return std::to_string(path); };
    const auto fork = [](std::size_t, std::size_t guard, const std::string& yes, const std::string& no) {
      return fmt::format("({}?{}:{})", guard, yes, no);
    };
    return tree_.fold<std::string>(leaf, fork);
  }

  DecisionTree tree_;
  std::size_t count_ = 0;
};

TEST_F(DecisionTreeTest, AForkBeforeAForkThatIsThere) {
  EXPECT_TRUE(add("TTT"));
  EXPECT_TRUE(add("TTF"));
  EXPECT_EQ(text(), "(2?0:1)");
  EXPECT_TRUE(add("TF"));
  EXPECT_EQ(text(), "(1?(2?0:1):2)");
  EXPECT_TRUE(add("F"));
  EXPECT_EQ(text(), "(0?(1?(2?0:1):2):3)");
}

TEST_F(DecisionTreeTest, BeyondAFork) {
  EXPECT_TRUE(add("T"));
  EXPECT_TRUE(add("FT"));
  EXPECT_TRUE(add("FF"));
  EXPECT_EQ(text(), "(0?0:(1?1:2))");
}

TEST_F(DecisionTreeTest, WhatLedTheSameWayTellsNothing) {
  EXPECT_TRUE(add("ET"));
  EXPECT_TRUE(add("EF"));
  EXPECT_EQ(text(), "(1?0:1)");
}

TEST_F(DecisionTreeTest, PathsThatNoGuardTellsApart) {
  EXPECT_TRUE(add("TT"));
  EXPECT_FALSE(add("TT"));
  EXPECT_FALSE(add("T"));
  EXPECT_EQ(text(), "0");
  // Another question in its place: what comes first was not decided by a guard.
  EXPECT_FALSE(tree_.add(count_++, {guard(1, 'T'), guard(7, 'F')}));
  EXPECT_EQ(text(), "0");
}

TEST_F(DecisionTreeTest, AForkThatAPathDoesNotComeTo) {
  EXPECT_TRUE(add("TT"));
  EXPECT_TRUE(add("TF"));
  EXPECT_FALSE(add("T"));
  EXPECT_FALSE(tree_.add(count_++, {guard(7, 'T'), guard(2, 'T')}));
  EXPECT_EQ(text(), "(1?0:1)");
}

TEST_F(DecisionTreeTest, AForkThatAPathPassesEitherWay) {
  std::vector<BranchCondition> rows = guards("T");
  rows[0].rows = true;
  EXPECT_TRUE(tree_.add(0, rows));
  rows[0].taken = false;
  EXPECT_TRUE(tree_.add(1, rows));
  EXPECT_FALSE(tree_.add(2, guards("E")));
}

TEST_F(DecisionTreeTest, AGuardDecidesOnlyWhereItsForkIs) {
  add("TT");
  add("FT");
  add("TF");
  EXPECT_EQ(text(), "(0?(1?0:2):1)");
  EXPECT_TRUE(tree_.forks(0, 0));
  EXPECT_TRUE(tree_.forks(0, 1));
  EXPECT_TRUE(tree_.forks(2, 1));
  EXPECT_TRUE(tree_.forks(1, 0));
  EXPECT_FALSE(tree_.forks(1, 1));
  std::string forks;
  tree_.visit([&](std::size_t path, std::size_t guard, std::size_t other) {
    forks += fmt::format("{} at {} from {}; ", other, guard, path);
  });
  EXPECT_EQ(forks, "1 at 0 from 0; 2 at 1 from 0; ");
}

}  // namespace
}  // namespace leapp::capture
