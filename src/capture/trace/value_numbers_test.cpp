// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/value_numbers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "capture/trace/trace_text.h"

namespace leapp::capture {
namespace {

class ValueNumbersTest : public ::testing::Test {
 protected:
  /// Calls of "n", each the body of a graph with the input x, and facts after it.
  void read(const std::vector<std::pair<std::string, std::string>>& calls) {
    std::string text;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      text += "call n in pass " + std::to_string(i) + "\ngraph n(%x: float32[4]) {\n" + calls[i].first + "\n}\n" +
              calls[i].second + "\n";
    }
    auto trace = parse_trace(text);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    trace_ = std::move(trace).value();
  }
  ValuePtr value(std::size_t call, const std::string& name) {
    for (const auto& [known, value] : trace_.calls[call].values) {
      if (known == name) return value;
    }
    ADD_FAILURE() << name;
    return nullptr;
  }
  /// Whether %y is the same in both calls.
  bool alike(std::map<Use, std::string> states = {}) {
    ValueNumbers numbers(std::move(states));
    numbers.add({value(0, "y")});
    numbers.add({value(1, "y")});
    EXPECT_EQ(numbers.of(value(0, "y")), value(0, "y"));
    return numbers.of(value(1, "y")) == value(0, "y");
  }

  Trace trace_;
};

TEST_F(ValueNumbersTest, OperatorsOnTheSameAreOneWhateverTheirLines) {
  read({{"%0: float32[4] = aten::neg(self=%x) @ \"p.py\":1\n%y: float32[4] = aten::exp(self=%0)\nreturn (y=%y)", ""},
        {"%0: float32[4] = aten::neg(self=%x) @ \"p.py\":7\n%y: float32[4] = aten::exp(self=%0)\nreturn (y=%y)", ""}});
  EXPECT_TRUE(alike());
}

TEST_F(ValueNumbersTest, AnotherNumberIsAnotherValue) {
  read({{"%y: float32[4] = aten::mul.Tensor(self=%x, other=2.0)\nreturn (y=%y)", ""},
        {"%y: float32[4] = aten::mul.Tensor(self=%x, other=3.0)\nreturn (y=%y)", ""}});
  EXPECT_FALSE(alike());
}

TEST_F(ValueNumbersTest, OperandsOfWhatIsNewAreExchanged) {
  const std::string common = "%0: float32[4] = aten::neg(self=%x)\n";
  read({{common + "%y: float32[4] = aten::exp(self=%0)\nreturn (y=%y)", ""},
        {common + "%y: float32[4] = aten::sin(self=%0)\nreturn (y=%y)", ""}});
  EXPECT_FALSE(alike());
  EXPECT_EQ(value(1, "y")->op->arguments[0].tensor, value(0, "0"));
}

TEST_F(ValueNumbersTest, ConstantsAreComparedByWhatTheyHold) {
  const auto with = [](const char* elements) {
    return std::pair(std::string("%c = constant float32[4] [") + elements +
                         "]\n%y: float32[4] = aten::add.Tensor(self=%x, other=%c, alpha=1)\nreturn (y=%y)",
                     std::string("constant %c copied"));
  };
  read({with("1, 2, 3, 4"), with("1, 2, 3, 4")});
  EXPECT_TRUE(alike());
  read({with("1, 2, 3, 4"), with("1, 2, 3, 5")});
  EXPECT_FALSE(alike());
}

TEST_F(ValueNumbersTest, WhatWasDrawnIsNotAConstantThatHoldsTheSame) {
  const std::string body =
      "%c = constant float32[4] [1, 2, 3, 4]\n%y: float32[4] = aten::add.Tensor(self=%x, other=%c, alpha=1)\nreturn "
      "(y=%y)";
  read({{body, "constant %c copied"}, {body, "constant %c copied random"}});
  EXPECT_FALSE(alike());
}

TEST_F(ValueNumbersTest, AStateIsTheSameWhateverItHeld) {
  const auto with = [](const char* elements) {
    return std::pair(std::string("%c = constant float32[4] [") + elements +
                         "]\n%y: float32[4] = aten::add.Tensor(self=%x, other=%c, alpha=1)\nreturn (y=%y)",
                     std::string());
  };
  read({with("1, 2, 3, 4"), with("5, 6, 7, 8")});
  const Use first{value(0, "y")->op.get(), 1};
  const Use second{value(1, "y")->op.get(), 1};
  EXPECT_FALSE(alike());
  EXPECT_TRUE(alike({{first, "h"}, {second, "h"}}));
  EXPECT_FALSE(alike({{first, "h"}, {second, "g"}}));
}

TEST_F(ValueNumbersTest, TheSecondDrawOfALineIsNotTheFirst) {
  const std::string draws =
      "%0: float32[4] = random aten::bernoulli(self=%x) @ \"p.py\":3\n"
      "%1: float32[4] = random aten::bernoulli(self=%x) @ \"p.py\":3\n";
  read({{draws + "%y: float32[4] = aten::sub.Tensor(self=%0, other=%1, alpha=1)\nreturn (y=%y)", ""},
        {draws + "%y: float32[4] = aten::sub.Tensor(self=%0, other=%1, alpha=1)\nreturn (y=%y)", ""}});
  ASSERT_TRUE(value(0, "0")->op->random);
  EXPECT_TRUE(alike());
  ValueNumbers numbers({});
  numbers.add({value(0, "y")});
  EXPECT_NE(numbers.of(value(0, "0")), numbers.of(value(0, "1")));
}

TEST_F(ValueNumbersTest, AResultThatNobodyReadWhereTheOperatorWasFoundFirst) {
  const std::string both =
      "%a: float32[2], %b: int64[2] = aten::topk(self=%x, k=2, dim=-1, largest=True, sorted=True)\n";
  read({{both + "%y: float32[2] = aten::neg(self=%a)\nreturn (y=%y)", ""},
        {both + "%y: int64[2] = aten::neg(self=%b)\nreturn (y=%y)", ""}});
  ValueNumbers numbers({});
  numbers.add({value(0, "y")});
  numbers.add({value(1, "y")});
  const ValuePtr indices = numbers.of(value(1, "b"));
  EXPECT_EQ(indices->op, value(0, "a")->op);
  EXPECT_EQ(indices->index, 1U);
  EXPECT_TRUE(indices->type == value(1, "b")->type);
  EXPECT_EQ(numbers.of(value(1, "b")), indices);
}

}  // namespace
}  // namespace leapp::capture
