// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/constant_outputs.h"

#include <gtest/gtest.h>

#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

std::string constant_output(const std::string& facts, const std::string& value = "%0") {
  return "call n in pass 0\ngraph n(%x: float32[2]) {\n  %c = constant float32[2] [1, 2]\n"
         "  %0: float32[2] = aten::neg(self=%c)\n  return (y=" +
         value + ")\n}\n" + facts;
}

TEST(ConstantOutputs, ThatDependOnNothingAreRefused) {
  Analysed result(constant_output(""));
  ASSERT_EQ(result.node("n").refusals.size(), 1U);
  const std::string& text = result.node("n").refusals[0];
  EXPECT_NE(
      text.find("output 'y' of node 'n': the tensor (float32[2]) depends neither on the node's inputs nor on state"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("run at least 2 passes"), std::string::npos);
}

TEST(ConstantOutputs, OfDefaultArgumentsAreConstants) {
  Analysed result(constant_output("constant %c given\n"));
  EXPECT_TRUE(result.node("n").refusals.empty());
  EXPECT_NE(result.log().find("computed from default arguments only"), std::string::npos) << result.log();
}

TEST(ConstantOutputs, AConstantItselfIsAnOutputLikeAnother) {
  Analysed result(constant_output("constant %c given\n", "%c"));
  EXPECT_EQ(result.graph("n").find("aten::alias"), std::string::npos) << result.graph("n");
}

TEST(ConstantOutputs, SetApartAndBareAreInverse) {
  TraceBuilder builder([](auto&&...) {});
  const ValuePtr constant = make_constant(std::make_shared<LiteralCell>());
  const ValuePtr apart = set_apart(constant, builder);
  EXPECT_TRUE(is_set_apart(*apart));
  EXPECT_EQ(bare(apart), constant);
  const ValuePtr input = make_value(TracedKind::kInput, {}, {.port = "x"});
  input->owner = 1;
  EXPECT_EQ(set_apart(input, builder), input);
}

}  // namespace
}  // namespace leapp::capture
