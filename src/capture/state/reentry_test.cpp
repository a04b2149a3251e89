// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/reentry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

/// Two calls of one node with these bodies (of %x, giving %0), and what differs.
std::string difference(const std::string& first, const std::string& second, const std::string& facts = "") {
  const auto call = [](int pass, const std::string& body) {
    return fmt::format(
        "call n in pass {}\ngraph n(%x: float32[2], %z: float32[2]) {{\n  %c = constant float32[2] [1, 2]\n  {}\n  "
        "return (y=%0)\n}}\n",
        pass, body);
  };
  Analysed result(call(0, first) + call(1, second) + facts);
  return result.divergences("n");
}

TEST(Reentry, EqualCallsAgree) {
  const std::string body = "%0: float32[2] = aten::mul.Tensor(self=%x, other=%c)";
  EXPECT_EQ(difference(body, body), "");
}

TEST(Reentry, AnotherOperatorIsABranch) {
  const std::string text = difference("%0: float32[2] = aten::mul.Tensor(self=%x, other=%c)  @ \"p.py\":3",
                                      "%0: float32[2] = aten::sub.Tensor(self=%x, other=%c, alpha=1)  @ \"p.py\":5");
  EXPECT_EQ(text,
            "call 1 differs from call 0: aten::mul.Tensor at p.py:3 in call 0, aten::sub.Tensor at p.py:5 in call 1. A "
            "branch on data, or on a number that changes, is exported as it was taken first\n");
}

TEST(Reentry, ANumberThatIsComputedInOneCallOnly) {
  const std::string text = difference("%0: float32[2] = aten::mul.Tensor(self=%x, other=2.0)",
                                      "%0: float32[2] = aten::mul.Tensor(self=%x, other=%z)");
  EXPECT_NE(text.find("'other' is 2. in call 0 and a value that was computed in call 1"), std::string::npos) << text;
}

TEST(Reentry, AnotherInputIsADifference) {
  const std::string text = difference("%0: float32[2] = aten::relu(self=%x)", "%0: float32[2] = aten::relu(self=%z)");
  EXPECT_NE(text.find("aten::relu uses input 'x' in call 0, input 'z' in call 1"), std::string::npos) << text;
}

TEST(Reentry, AnotherContentIsADifferenceWithBothValues) {
  const std::string body = "%0: float32[2] = aten::mul.Tensor(self=%x, other=%c)  @ \"p.py\":3";
  Analysed result(fmt::format(
      "call n in pass 0\ngraph n(%x: float32[2]) {{\n  %c = constant float32[2] [1, 2]\n  {0}\n  return (y=%0)\n}}\n"
      "call n in pass 1\ngraph n(%x: float32[2]) {{\n  %c = constant float32[2] [3, 2]\n  {0}\n  return (y=%0)\n}}\n",
      body));
  EXPECT_NE(result.divergences("n").find("is [1, 2] in call 0 and [3, 2] in call 1"), std::string::npos)
      << result.divergences("n");
}

TEST(Reentry, WhatIsMadeOfEqualConstantsIsEqual) {
  const std::string body =
      "%1: float32[2] = aten::neg(self=%c)\n  %0: float32[2] = aten::mul.Tensor(self=%x, other=%1)";
  EXPECT_EQ(difference(body, body), "");
}

// A cache that the first call filled: read again as it was made.
TEST(Reentry, WhatIsReadAgainAsItWasMadeIsAConstant) {
  Analysed result(R"(
call n in pass 0
graph n(%x: float32[2]) {
  %0: float32[2] = aten::ones(size=[2])
  %1: float32[2] = aten::mul.Tensor(self=%x, other=%0)
  return (y=%1)
}
keep %0
call n in pass 1
graph n(%x: float32[2]) {
  %cache = constant float32[2] [1, 1]
  %1: float32[2] = aten::mul.Tensor(self=%x, other=%cache)
  return (y=%1)
}
constant %cache from n %0 of pass 0
)");
  // The contents of what is computed are not known here: it is taken for state, and found to be the same for ever.
  EXPECT_EQ(result.ports(), "n(x) -> (y)\n");
}

TEST(Reentry, ANumberOfDifferencesIsKeptAndNoMore) {
  std::string text;
  for (int pass = 0; pass < 20; ++pass) {
    text += fmt::format(
        "call n in pass {}\ngraph n(%x: float32[2]) {{\n  %0: float32[2] = aten::mul.Tensor(self=%x, other={}.5)\n  "
        "return (y=%0)\n}}\n",
        pass, pass);
  }
  EXPECT_EQ(Analysed(text).node("n").divergences.size(), 8U);
}

}  // namespace
}  // namespace leapp::capture
