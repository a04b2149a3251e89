// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/to_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/session/session_testing.h"

namespace leapp::capture {
namespace {

using testing::SessionTest;

TEST_F(SessionTest, AConstantThatChangesAfterStopIsNoticed) {
  const at::Tensor weight = at::full({2}, 3.0);
  call(at::ones({2}), [&](const at::Tensor& x) { return x * weight; });
  EXPECT_TRUE(stop());
  weight.add_(1);
  const auto made = to_graph(node());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("was changed between stop() and compile_graph()"), std::string::npos);
}

// It was exported as float32 without a word.
TEST_F(SessionTest, ADtypeThatNoGraphHasIsRefusedByName) {
  front_end_->line_ = 4;
  call(at::ones({2}), [](const at::Tensor& x) { return x.to(at::kFloat8_e5m2fnuz).to(at::kFloat); });
  EXPECT_TRUE(stop());
  const auto made = to_graph(node());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), StatusCode::kUnimplemented);
  for (const char* part : {"node 'n'", "program.py:4", "'dtype'", "Float8_e5m2fnuz"})
    EXPECT_NE(made.status().message().find(part), std::string::npos) << made.status().message();
}

TEST(ToGraph, AResultOfSuchADtypeIsRefusedWhereSomebodyReadsIt) {
  NodeRecord node;
  node.name = "n";
  const ValueType type{at::kFloat, {2}};
  node.inputs.push_back({.name = "x", .type = type});
  node.outputs.push_back({.name = "y", .type = type});
  const ValuePtr x = make_value(TracedKind::kInput, type, {.port = "x"});
  TraceBuilder builder([](auto&&...) {});
  const ValuePtr small = builder.unary_as("aten::neg", x, {at::kFloat8_e5m2fnuz, {2}});
  node.output_values = {builder.unary_as("aten::relu", small, type)};
  const auto made = to_graph(node);
  ASSERT_FALSE(made.ok());
  for (const char* part : {"node 'n'", "a result of type", "aten::neg", "cannot be exported"})
    EXPECT_NE(made.status().message().find(part), std::string::npos) << made.status().message();
}

}  // namespace
}  // namespace leapp::capture
