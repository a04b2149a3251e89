// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/judge.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "emit/torchscript/evaluator.h"
#include "graph/text.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

using Kind = RoundingVerdict::Kind;

const Evaluators kEvaluators = {emit::evaluate, emit::evaluate_wide};

RoundingDeadline soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }

graph::Constant constant(const at::Tensor& tensor) { return *to_constant(tensor.contiguous()); }

/// A graph and the inputs of one sample.
class Sample {
 public:
  Sample(const std::string& text, const std::vector<at::Tensor>& inputs)
      : graph_(graph::parse(text).value()), judge_(graph_, values(inputs), kEvaluators, soon()) {}

  /// What the program gave.
  [[nodiscard]] at::Tensor program() { return to_tensor(*judge_.alike().outputs[0].plain).clone(); }

  RoundingVerdict judge(const at::Tensor& found) {
    return judge_output(constant(found), constant(program()), &judge_, 0);
  }
  RoundingVerdict judge(const at::Tensor& found, const at::Tensor& program) {
    return judge_output(constant(found), constant(program), &judge_, 0);
  }

 private:
  static Values values(const std::vector<at::Tensor>& tensors) {
    Values values;
    for (const at::Tensor& tensor : tensors) values.emplace_back(constant(tensor));
    return values;
  }
  graph::Graph graph_;
  SampleJudge judge_;
};

at::Tensor noise(at::IntArrayRef sizes, std::uint64_t seed, at::ScalarType type = at::kFloat) {
  at::manual_seed(seed);
  return at::randn(sizes, type);
}

// Sums of large numbers that nearly cancel: the last digits of the sum are rounding.
constexpr const char* kCancels = R"(graph (%x: float32[8,512], %w: float32[4,512]) {
  %a: float32[8,512] = aten::mul.Tensor(self=%x, other=100000.0)
  %b: float32[8,4] = aten::linear(input=%a, weight=%w, bias=None)
  return (y=%b)
}
)";

at::Tensor in_blocks(const at::Tensor& x, const at::Tensor& w) {
  at::Tensor sum = at::zeros({8, 4});
  for (std::int64_t i = 0; i < 512; i += 8) {
    sum = sum + x.slice(1, i, i + 8).mul(100000.0).matmul(w.slice(1, i, i + 8).t());
  }
  return sum;
}

TEST(Judge, AnotherOrderOfASumIsRounding) {
  const at::Tensor x = noise({8, 512}, 1);
  at::Tensor w = noise({4, 512}, 2);
  // Each row of the weights is orthogonal to the first row of the inputs, nearly.
  w = w - w.matmul(x[0]).outer(x[0]) / x[0].dot(x[0]);
  Sample sample(kCancels, {x, w});
  const at::Tensor found = in_blocks(x, w);
  ASSERT_FALSE(at::allclose(found, sample.program(), 1e-3, 1e-5)) << "what this is about";
  const RoundingVerdict verdict = sample.judge(found);
  EXPECT_EQ(verdict.kind, Kind::kRounding) << verdict.words;
  EXPECT_NE(verdict.words.find("rounding alone moves its elements by"), std::string::npos);
}

TEST(Judge, AWrongElementIsNot) {
  const at::Tensor x = noise({8, 512}, 1);
  const at::Tensor w = noise({4, 512}, 2);
  Sample sample(kCancels, {x, w});
  at::Tensor found = in_blocks(x, w);
  ASSERT_EQ(sample.judge(found).kind, Kind::kRounding);
  found[3][2] = found[3][2] * 1.0001;  // rtol = 1e-3 would have let it pass
  const RoundingVerdict verdict = sample.judge(found);
  EXPECT_EQ(verdict.kind, Kind::kDifferent);
  EXPECT_EQ(verdict.difference.wrong, 1U);
}

TEST(Judge, AProgramThatDidSomethingElseIsNotRounding) {
  const at::Tensor x = noise({8, 512}, 1);
  const at::Tensor w = noise({4, 512}, 2);
  Sample sample(kCancels, {x, w});
  // The model does what was captured, and the program added something small that was not.
  EXPECT_EQ(sample.judge(sample.program(), sample.program() * 1.0001).kind, Kind::kDifferent);
}

TEST(Judge, ManySmallErrorsTogetherAreNotRounding) {
  constexpr const char* kProduct = R"(graph (%x: float32[64,64], %w: float32[64,64]) {
  %a: float32[64,64] = aten::matmul(self=%x, other=%w)
  %b: float32[64,64] = aten::matmul(self=%a, other=%a)
  return (y=%b)
}
)";
  const at::Tensor x = noise({64, 64}, 1);
  Sample sample(kProduct, {x, noise({64, 64}, 2)});
  const at::Tensor program = sample.program();
  EXPECT_EQ(sample.judge(program).kind, Kind::kRounding);
  // A weight that is off by one part in ten thousand.
  at::Tensor w = noise({64, 64}, 2);
  w[5][7] = w[5][7] * 1.001 + 1e-3;
  const at::Tensor a = x.matmul(w);
  EXPECT_EQ(sample.judge(a.matmul(a)).kind, Kind::kDifferent);
}

TEST(Judge, TheWrongSignOfTinyNumbersIsNotRounding) {
  constexpr const char* kTiny = R"(graph (%x: float32[16]) {
  %a: float32[16] = aten::mul.Tensor(self=%x, other=1e-07)
  %b: float32[16] = aten::tanh(self=%a)
  return (y=%b)
}
)";
  Sample sample(kTiny, {noise({16}, 1)});
  const at::Tensor program = sample.program();
  ASSERT_TRUE(at::allclose(program.neg(), program, 1e-3, 1e-5)) << "the old rule saw no difference";
  EXPECT_EQ(sample.judge(program.neg()).kind, Kind::kDifferent);
}

TEST(Judge, ShortTypesRoundMore) {
  constexpr const char* kDeep = R"(graph (%x: bfloat16[4,64], %w: bfloat16[64,64]) {
  %0: bfloat16[4,64] = aten::matmul(self=%x, other=%w)
  %1: bfloat16[4,64] = aten::gelu(self=%0, approximate="none")
  %2: bfloat16[4,64] = aten::matmul(self=%1, other=%w)
  %3: bfloat16[4,64] = aten::gelu(self=%2, approximate="none")
  %4: bfloat16[4,64] = aten::matmul(self=%3, other=%w)
  return (y=%4)
}
)";
  const at::Tensor x = noise({4, 64}, 1).to(at::kBFloat16);
  const at::Tensor w = (noise({64, 64}, 2) * 0.2).to(at::kBFloat16);
  Sample sample(kDeep, {x, w});
  // An engine that computes in float32 and rounds at the end.
  const at::Tensor wide = w.to(at::kFloat);
  const at::Tensor found =
      at::gelu(at::gelu(x.to(at::kFloat).matmul(wide)).matmul(wide)).matmul(wide).to(at::kBFloat16);
  ASSERT_FALSE(at::allclose(found, sample.program(), 1e-3, 1e-5));
  EXPECT_EQ(sample.judge(found).kind, Kind::kRounding);
  EXPECT_EQ(sample.judge(found * 1.5).kind, Kind::kDifferent);
  EXPECT_EQ(sample.judge(found.flip(1)).kind, Kind::kDifferent);
}

TEST(Judge, WholeNumbersAreEqual) {
  constexpr const char* kDecides = R"(graph (%x: float32[4,3]) {
  %a: float32[4,3] = aten::div.Tensor(self=%x, other=3.0)
  %c: int64[4] = aten::argmax(self=%a, dim=1, keepdim=False)
  return (y=%c)
}
)";
  Sample sample(kDecides, {noise({4, 3}, 5)});
  EXPECT_EQ(sample.judge(sample.program()).kind, Kind::kRounding);
  EXPECT_EQ(sample.judge((sample.program() + 1).remainder(3)).kind, Kind::kDifferent);
}

// Behind a decision everything is exact again: nothing may hide there.
TEST(Judge, ACloseDecisionIsNoExcuseForWhatFollows) {
  constexpr const char* kFollows = R"(graph (%x: float32[2]) {
  %a: float32[2] = aten::div.Tensor(self=%x, other=3.0)
  %b: float32[2] = aten::mul.Tensor(self=%a, other=3.0)
  %c: bool[2] = aten::gt.Tensor(self=%b, other=%x)
  %d: float32[2] = aten::mul.Tensor(self=%x, other=7.0)
  %e: float32[2] = aten::where.self(condition=%c, self=%d, other=%x)
  return (y=%e)
}
)";
  const at::Tensor x = at::tensor({0.7F, 1.3F});
  Sample sample(kFollows, {x});
  const at::Tensor program = sample.program();
  const RoundingVerdict other = sample.judge(at::where(program == x, x * 7, x));
  EXPECT_EQ(other.kind, Kind::kDecision);
  EXPECT_NE(other.words.find("rounding decides at aten::gt.Tensor"), std::string::npos) << other.words;
  EXPECT_EQ(sample.judge(program * 3).kind, Kind::kDifferent);
  EXPECT_EQ(sample.judge(program * 1.001).kind, Kind::kDifferent);
}

TEST(Judge, MasksOfHugeNumbersExcuseNothing) {
  constexpr const char* kMasked = R"(graph (%x: float32[2,4]) {
  %a: float32[2,4] = aten::mul.Tensor(self=%x, other=1.1)
  %m: bool[2,4] = aten::lt.Scalar(self=%x, other=0)
  %b: float32[2,4] = aten::masked_fill.Scalar(self=%a, mask=%m, value=-3.0e+38)
  return (y=%b)
}
)";
  Sample sample(kMasked, {noise({2, 4}, 3)});
  at::Tensor found = sample.program();
  found[0][0] = found[0][0] * 1.001;
  EXPECT_LT(near_tolerance(constant(found)).atol, 1e-3);
  const at::Tensor program = sample.program();
  const bool masked = program[0][0].item<float>() < -1e30F;
  ASSERT_FALSE(masked) << "another seed";
  EXPECT_EQ(sample.judge(found).kind, Kind::kDifferent);
}

TEST(Judge, WithoutAGraphTheUsualToleranceOfTheTypeDecides) {
  const at::Tensor program = noise({16}, 1);
  EXPECT_EQ(judge_output(constant(program * 1.0005), constant(program), nullptr, 0).difference.wrong, 0U);
  EXPECT_GT(judge_output(constant(program * 1.01), constant(program), nullptr, 0).difference.wrong, 0U);
  const at::Tensor half = program.to(at::kHalf);
  EXPECT_EQ(judge_output(constant(half * 1.003), constant(half), nullptr, 0).difference.wrong, 0U);
}

TEST(NearTolerance, KnowsDtypeAndSize) {
  const at::Tensor large = noise({100}, 1) * 1e5;
  EXPECT_GT(near_tolerance(constant(large)).atol, 0.5);
  EXPECT_LT(near_tolerance(constant(large * 1e-10)).atol, 1e-9);
  EXPECT_GT(near_tolerance(constant(large.to(at::kBFloat16))).rtol, near_tolerance(constant(large.to(at::kHalf))).rtol);
  EXPECT_EQ(near_tolerance(constant(at::ones({3}, at::kLong))).rtol, 0);
}

TEST(NearTolerance, WhatIsLeftOfEqualNumbersIsNoMeasureOfTheOthers) {
  at::Tensor values = noise({18}, 1);
  values.slice(0, 0, 6) = 3e-8;
  values[6] = -2e-8;
  EXPECT_GT(near_tolerance(constant(values)).atol, 1e-6);
}

TEST(NearTolerance, AFillOfMostElementsIsNoMeasureOfTheOthers) {
  at::Tensor values = noise({20}, 1);
  values.slice(0, 2) = -1e9;
  EXPECT_LT(near_tolerance(constant(values)).atol, 1e-3);
}

}  // namespace
}  // namespace leapp::exporter
