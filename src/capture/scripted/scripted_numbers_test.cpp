// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_numbers.h"

#include "capture/scripted/scripted_testing.h"

namespace leapp::capture {
namespace {

class ScriptedNumbersTest : public testing::ScriptedTest {};

TEST_F(ScriptedNumbersTest, ArithmeticOfNumbersStaysInTheGraph) {
  const std::string text = recorded(R"(def f(x):
    n = int(x[0]) // 2 + 1
    k = float(n) * 0.5 - min(float(x[1]), 3.0)
    y = x
    if n > 1 and k < 10.0:
        y = x * k + n
    return y
)",
                                    at::tensor({4.0F, 2.0F, 7.0F}));
  EXPECT_NE(text.find("leapp::if"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::floor_divide"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::minimum"), std::string::npos) << text;
  EXPECT_EQ(log().find("[warning]"), std::string::npos) << log();
}

TEST_F(ScriptedNumbersTest, ANumberThatMakesATensorIsRecordedAsTheTensor) {
  const std::string text = recorded(R"(def f(x):
    n = int(x.sum())
    y = x
    if n > 0:
        y = torch.full([3], float(n)) + torch.tensor(n)
    return y
)",
                                    at::tensor({4.0F, 2.0F, 7.0F}));
  EXPECT_NE(text.find("aten::expand"), std::string::npos) << text;
  EXPECT_EQ(text.find("13"), std::string::npos) << text;
}

TEST(ScriptedNumbers, ATwinThatDoesNotHoldTheNumberIsNone) {
  const testing::ScriptedFunction function(
      "def f(x):\n    n = int(x[0]) + 1\n    while n > 0:\n        n = n - 1\n    return x\n");
  const torch::jit::Node* add = function.find("aten::add");
  ASSERT_NE(add, nullptr);
  const ScriptedItem two{c10::IValue(std::int64_t{2}), at::scalar_tensor(5, at::kLong)};
  const ScriptedItem one{c10::IValue(std::int64_t{1}), {}};
  EXPECT_FALSE(twin_of_number(*add, {two, one}, std::int64_t{3}).defined());
  EXPECT_EQ(twin_of_number(*add, {two, one}, std::int64_t{6}).item<std::int64_t>(), 6);
}

}  // namespace
}  // namespace leapp::capture
