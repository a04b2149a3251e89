// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/path_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

// Values are known by letters, conditions by digits.
class PathChoiceTest : public ::testing::Test {
 protected:
  ValuePtr value(char name) {
    ValuePtr& made = values_[name];
    if (!made) {
      const bool condition = name >= '0' && name <= '9';
      const ValueType type = condition ? ValueType{at::kBool, {}} : ValueType{at::kFloat, {2}};
      made = make_value(TracedKind::kInput, type, {.port = std::string(1, name)});
      made->owner = 1;
    }
    return made;
  }
  /// A path on which "0T1F" was asked, and that gives a value.
  void path(const std::string& asked, char result) {
    PathAnswers answers;
    for (std::size_t i = 0; i + 1 < asked.size(); i += 2) {
      BranchCondition guard{
          .op = std::make_shared<TraceOp>(), .taken = asked[i + 1] == 'T', .either = asked[i + 1] == 'E'};
      guard.op->info = op_info("aten::is_nonzero", "");
      guard.op->location = intern_location("choice.py", asked[i], "");
      answers.conditions.push_back(value(asked[i]));
      answers.guards.push_back(guard);
    }
    ASSERT_TRUE(tree_.add(answers_.size(), answers.guards));
    answers_.push_back(std::move(answers));
    results_.push_back(value(result));
  }
  ChoicePtr chosen() { return choose(tree_, results_, answers_); }
  /// What was left out and may matter all the same, as "path.guard".
  std::string unproven() {
    std::vector<PathGuard> found;
    const ChoicePtr choice = choose(tree_, results_, answers_, &found);
    std::string text;
    for (const PathGuard& one : found) text += std::to_string(one.path) + "." + std::to_string(one.guard) + " ";
    return text;
  }
  std::string text(const PathChoice& choice) {
    if (choice.is_value()) return choice.value->origin->port;
    return "(" + choice.condition->origin->port + "?" + text(*choice.yes) + ":" + text(*choice.no) + ")";
  }

  DecisionTree tree_;
  std::vector<PathAnswers> answers_;
  std::vector<ValuePtr> results_;
  std::map<char, ValuePtr> values_;
};

TEST_F(PathChoiceTest, AGuardThatDoesNotMatterIsLeftOutThoughNotAllWasSeen) {
  path("0T1T", 'a');
  path("0T1F", 'b');
  path("0F1T", 'a');  // nobody saw 0F1F
  EXPECT_EQ(text(*chosen()), "(1?a:b)");
  EXPECT_FALSE(decides(*chosen(), value('0')));
  EXPECT_TRUE(decides(*chosen(), value('1')));
}

TEST_F(PathChoiceTest, AGuardThatMattersStays) {
  path("0T1T", 'a');
  path("0T1F", 'b');
  path("0F1T", 'b');
  EXPECT_EQ(text(*chosen()), "(0?(1?a:b):b)");
}

TEST_F(PathChoiceTest, WhatWasNotAskedOnOnePathCannotDecideThere) {
  path("0T1T", 'a');
  path("0T1F", 'b');
  path("0F", 'a');
  EXPECT_EQ(text(*chosen()), "(0?(1?a:b):a)");
}

TEST_F(PathChoiceTest, OneValueOnAllPathsIsNoChoice) {
  path("0T1T", 'a');
  path("0T1F", 'a');
  path("0F", 'a');
  EXPECT_TRUE(chosen()->is_value());
  TraceBuilder builder([](auto&&...) {});
  EXPECT_EQ(emit(*chosen(), builder), value('a'));
}

TEST_F(PathChoiceTest, OnTheWayOfAPathLessIsDecided) {
  path("0T1T", 'a');
  path("0T1F", 'b');
  path("0F", 'c');
  const ChoicePtr choice = chosen();
  EXPECT_TRUE(decides(*choice, value('1'), &answers_[0]));
  EXPECT_FALSE(decides(*choice, value('1'), &answers_[2]));
  const PathAnswers unknown;
  EXPECT_TRUE(decides(*choice, value('1'), &unknown));
}

TEST_F(PathChoiceTest, AnAnswerThatLedNowhereIsNone) {
  path("0E1T", 'a');
  EXPECT_EQ(answers_[0].answer(value('0')), std::nullopt);
  EXPECT_EQ(answers_[0].answer(value('1')), true);
  EXPECT_EQ(answers_[0].answer(value('2')), std::nullopt);
}

// x * (how many of three are true)
TEST_F(PathChoiceTest, WhatChangedOnlyTogetherWithOthersIsNotProvenToMatterNot) {
  path("0T1T2T", 'c');
  path("0F1T2F", 'a');
  path("0F1F2T", 'a');  // 1 and 2 changed, and the value is the same
  path("0T1F2T", 'b');
  EXPECT_EQ(text(*chosen()), "(0?(1?c:b):a)");
  EXPECT_EQ(unproven(), "1.1 ");
}

TEST_F(PathChoiceTest, WhatChangedAloneWithoutChangingTheValueIsProven) {
  path("0T1T2T", 'a');
  path("0T1F2T", 'a');  // 1 alone
  path("0F1T2F", 'b');
  path("0F1F2T", 'b');  // 1 and 2, but 1 was seen alone
  path("0F1T2T", 'b');  // 2 alone
  EXPECT_EQ(text(*chosen()), "(0?a:b)");
  EXPECT_EQ(unproven(), "");
}

TEST_F(PathChoiceTest, OfOneValueOnAllPathsNothingHasToBeProven) {
  path("0T1T", 'a');
  path("0F1F", 'a');
  EXPECT_EQ(unproven(), "");
}

TEST_F(PathChoiceTest, EmitsFromTheInsideOut) {
  path("0T1T", 'a');
  path("0T1F", 'b');
  path("0F", 'c');
  TraceBuilder builder([](auto&&...) {});
  const ValuePtr outer = emit(*chosen(), builder);
  ASSERT_EQ(outer->op->info->qualified_name(), "aten::where.self");
  EXPECT_EQ(outer->op->location, answers_[0].guards[0].location());
  EXPECT_EQ(outer->op->arguments[0].tensor, value('0'));
  EXPECT_EQ(outer->op->arguments[2].tensor, value('c'));
  const ValuePtr inner = outer->op->arguments[1].tensor;
  EXPECT_EQ(inner->op->arguments[0].tensor, value('1'));
  EXPECT_EQ(inner->op->arguments[1].tensor, value('a'));
  EXPECT_EQ(inner->op->location, answers_[0].guards[1].location());
}

}  // namespace
}  // namespace leapp::capture
