// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/control.h"

#include "capture/hook/op_info.h"
#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

class ControlTest : public testing::SessionTest {};

constexpr const char* kDouble = R"(graph (%x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2)
  return (0=%0)
}
)";
constexpr const char* kSame = "graph (%x: float32[2]) {\n  return (0=%x)\n}\n";
// Doubles what it carries while the sum is below 100.
constexpr const char* kBody = R"(graph (%round: int64[], %x: float32[2]) {
  %0: float32[2] = aten::mul.Tensor(self=%x, other=2)
  %1: float32[] = aten::sum(self=%0, dtype=None)
  %2: bool[] = aten::lt.Scalar(self=%1, other=100)
  return (0=%2, 1=%0)
}
)";

TEST_F(ControlTest, ABranchIsOneOperatorOfTheTrace) {
  call(at::ones({2}), [](const at::Tensor& x) {
    const at::Tensor condition = x.sum().gt(0);
    return call_control({{condition, x}, {}, kDouble, kSame}, [&] { return std::vector<at::Tensor>{x * 2}; })[0];
  });
  ASSERT_TRUE(stop());
  EXPECT_NE(graph().find("leapp::if(condition=%1, operands=[%x], then=graph (%x: float32[2])"), std::string::npos)
      << graph();
}

TEST_F(ControlTest, WhatItWritesToHoldsItsLastResults) {
  call(at::ones({2}), [](const at::Tensor& x) {
    const at::Tensor kept = x + 1;
    const at::Tensor condition = x.sum().gt(0);
    const auto none = call_control({{condition, kept}, {kept}, kDouble, kSame}, [&] {
      kept.mul_(2);
      return std::vector<at::Tensor>();
    });
    EXPECT_TRUE(none.empty());
    return kept + x;
  });
  ASSERT_TRUE(stop());
  const std::string text = graph();
  EXPECT_NE(text.find("leapp::if"), std::string::npos) << text;
  EXPECT_EQ(text.find("self=%0, other=%x, alpha=1)  return"), std::string::npos);
}

TEST_F(ControlTest, ItsFunctionalFormRunsWhatItHolds) {
  call(at::ones({2}), [](const at::Tensor& x) {  // registers the operators
    return call_control({{x.sum().gt(0), x}, {}, kDouble, kSame}, [&] { return std::vector<at::Tensor>{x * 2}; })[0];
  });
  const at::Tensor x = at::full({2}, 3.0F);
  const auto run = [&](const std::vector<at::Tensor>& operands, const char* first, const char* second) {
    std::vector<c10::IValue> stack{c10::List<at::Tensor>(operands), first, second};
    op_info("leapp::control", "")->run(stack);
    return stack[0].toTensorVector().at(0);
  };
  EXPECT_TRUE(at::equal(run({at::scalar_tensor(true, at::kBool), x}, kDouble, kSame), x * 2));
  EXPECT_TRUE(at::equal(run({at::scalar_tensor(false, at::kBool), x}, kDouble, kSame), x));
  const at::Tensor most = at::scalar_tensor(2, at::kLong);
  const at::Tensor yes = at::scalar_tensor(true, at::kBool);
  EXPECT_TRUE(at::equal(run({most, yes, x}, kBody, ""), x * 4));
  EXPECT_TRUE(at::equal(run({at::scalar_tensor(100, at::kLong), yes, x}, kBody, ""), x * 32));
  EXPECT_TRUE(at::equal(run({most, at::scalar_tensor(false, at::kBool), x}, kBody, ""), x));
}

}  // namespace
}  // namespace leapp::capture
