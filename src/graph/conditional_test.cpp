// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/conditional.h"

#include <gtest/gtest.h>

#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/inline_branches.h"
#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

constexpr const char* kBranch = R"(graph (%p: bool[], %x: float32[2], %i: int64[1]) {
  %0: float32[2] = aten::relu(self=%x)
  %y: float32[2], %z: float32[2] = leapp::if(condition=%p, operands=[%0, %i], then=graph (%0: float32[2], %i: int64[1]) {
    %w = parameter float32[2] [1, 2]
    %1: float32[2] = aten::mul.Tensor(self=%0, other=%w)
    return (0=%1, 1=%0)
  }, else=graph (%0: float32[2], %i: int64[1]) {
    %1: float32[2] = leapp::if(condition=%q, operands=tensor[], then=graph () {
      %c = constant float32[2] [3, 4]
      return (0=%c)
    }, else=graph () {
      %c = constant float32[2] [5, 6]
      return (0=%c)
    })
    return (0=%1, 1=%0)
  })  @ "robot.py":7 in "act"
  return (y=%y, z=%z)
}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The branch above with an inner condition that is there.
std::string branch() {
  return with(kBranch, "    %1: float32[2] = leapp::if(",
              "    %q: bool[] = aten::any(self=%i)\n    %1: float32[2] = leapp::if(");
}

Graph parsed(const std::string& text) {
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(graph).value() : Graph();
}

std::string fault_of(const std::string& text) {
  const Status status = verify(parsed(text));
  EXPECT_FALSE(status.ok());
  return status.message();
}

TEST(Conditional, IsPrintedAndParsed) {
  const Graph graph = parsed(branch());
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).message();
  EXPECT_EQ(print(graph), branch());
  EXPECT_EQ(print(clone(graph)), branch());
}

TEST(Conditional, SidesSeeNothingOfTheGraphAroundThem) {
  const auto graph = parse(kBranch);
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("found %q"), std::string::npos) << graph.status().message();
}

TEST(Conditional, GraphsInsideEachOtherAreBounded) {
  std::string text = "graph () { return () }";
  for (int i = 0; i < 40; ++i) text = "graph () { a::b(c=" + text + ") return () }";
  const auto graph = parse(text);
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("at most 32 graphs"), std::string::npos) << graph.status().message();
}

TEST(Conditional, TypesOfSidesAreChecked) {
  EXPECT_NE(fault_of(with(branch(), "%p: bool[]", "%p: bool[1]")).find("condition of type bool[]"), std::string::npos);
  EXPECT_NE(fault_of(with(branch(), "then=graph (%0: float32[2]", "then=graph (%0: float32[3]")).find("'then'"),
            std::string::npos);
  EXPECT_NE(fault_of(with(branch(), "return (0=%1, 1=%0)\n  }, else", "return (0=%1)\n  }, else")).find("2 outputs"),
            std::string::npos);
  EXPECT_NE(fault_of(with(branch(), "%z: float32[2] =", "%z: float32[3] =")).find("output 1"), std::string::npos);
  EXPECT_NE(fault_of(with(branch(), "operands=[%0, %i], then", "operands=[%0], then")).find("1 inputs"),
            std::string::npos);
  EXPECT_NE(fault_of(with(branch(), "%1: float32[2] = aten::mul", "%1: float32[2] = random aten::mul")).find("random"),
            std::string::npos);
}

TEST(Conditional, TheSameOnesMerge) {
  const std::string twice = with(
      branch(), "  return (y=%y, z=%z)\n}\n",
      "  %a: float32[2], %b: float32[2] = leapp::if(condition=%p, operands=[%0, %i], then=graph (%s: float32[2], "
      "%t: int64[1]) {\n    return (0=%s, 1=%s)\n  }, else=graph (%s: float32[2], %t: int64[1]) {\n    return (0=%s, "
      "1=%s)\n  })\n  %c: float32[2], %d: float32[2] = leapp::if(condition=%p, operands=[%0, %i], then=graph (%u: "
      "float32[2], %v: int64[1]) {\n    return (first=%u, second=%u)\n  }, else=graph (%u: float32[2], %v: int64[1]) "
      "{\n    return (0=%u, 1=%u)\n  })\n  return (y=%y, z=%z, a=%a, b=%b, c=%c, d=%d)\n}\n");
  const std::string merged = testing::after(twice, merge_common_subexpressions);
  EXPECT_NE(merged.find("return (y=%y, z=%z, a=%a, b=%b, c=%a, d=%b)"), std::string::npos) << merged;
}

TEST(Conditional, DeadCodeInsideGoes) {
  const std::string text = with(branch(), "  return (y=%y, z=%z)", "  return (y=%y)");
  const std::string trimmed = testing::after(text, eliminate_dead_code);
  EXPECT_EQ(trimmed, R"(graph (%p: bool[], %x: float32[2], %i: int64[1]) {
  %0: float32[2] = aten::relu(self=%x)
  %y: float32[2] = leapp::if(condition=%p, operands=[%0, %i], then=graph (%0: float32[2], %i: int64[1]) {
    %w = parameter float32[2] [1, 2]
    %1: float32[2] = aten::mul.Tensor(self=%0, other=%w)
    return (0=%1)
  }, else=graph (%0: float32[2], %i: int64[1]) {
    %q: bool[] = aten::any(self=%i)
    %1: float32[2] = leapp::if(condition=%q, operands=tensor[], then=graph () {
      %c = constant float32[2] [3, 4]
      return (0=%c)
    }, else=graph () {
      %c = constant float32[2] [5, 6]
      return (0=%c)
    })
    return (0=%1)
  })  @ "robot.py":7 in "act"
  return (y=%y)
}
)");
  const std::string other = with(branch(), "  return (y=%y, z=%z)", "  return (z=%z)");
  EXPECT_NE(testing::after(other, eliminate_dead_code).find("operands=[%0], then"), std::string::npos);
}

TEST(Conditional, IsWrittenOutWithBothSides) {
  EXPECT_EQ(testing::after(branch(), inline_branches), R"(graph (%p: bool[], %x: float32[2], %i: int64[1]) {
  %w = parameter float32[2] [1, 2]
  %c = constant float32[2] [3, 4]
  %c_1 = constant float32[2] [5, 6]
  %0: float32[2] = aten::relu(self=%x)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=%w)
  %q: bool[] = aten::any(self=%i)
  %1_1: float32[2] = aten::where.self(condition=%q, self=%c, other=%c_1)
  %y: float32[2] = aten::where.self(condition=%p, self=%1, other=%1_1)  @ "robot.py":7 in "act"
  %z: float32[2] = aten::where.self(condition=%p, self=%0, other=%0)  @ "robot.py":7 in "act"
  return (y=%y, z=%z)
}
)");
}

}  // namespace
}  // namespace leapp::graph
