// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/evaluate.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "capture/recorder/tensor_content.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

TEST(Evaluate, RunsWhatDependsOnConstants) {
  TraceBuilder builder([](auto&&...) {});
  const ValuePtr constant = constant_of(at::arange(3, at::kFloat), 0);
  const ValuePtr negated = builder.unary("aten::neg", builder.reshape(constant, {3, 1}));
  TorchEvaluator evaluator;
  EXPECT_TRUE(at::equal(tensor_of(evaluator.value_of(negated)), at::arange(3, at::kFloat).neg().reshape({3, 1})));
}

}  // namespace
}  // namespace leapp::capture
