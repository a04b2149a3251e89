// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/sink_branches.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

std::string sunk(const std::string& text) {
  return testing::after(text, [](Graph& graph) { return sink_branches(graph); });
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SinkBranches, ASideThatCanFailMovesInside) {
  EXPECT_EQ(sunk(R"(graph (%x: float32[4], %i: int64[1]) {
  %table = constant float32[3] [1, 2, 3]
  %0: float32[] = aten::sum(self=%x, dtype=None)
  %p: bool[] = aten::gt.Scalar(self=%0, other=0)
  %1: float32[4] = aten::relu(self=%x)
  %2: float32[1] = aten::index_select(self=%table, dim=0, index=%i)
  %3: float32[4] = aten::mul.Tensor(self=%1, other=%2)
  %y: float32[4] = aten::where.self(condition=%p, self=%3, other=%1)  @ "robot.py":5 in "act"
  %4: float32[4] = aten::neg(self=%y)
  return (y=%4)
}
)"),
            R"(graph (%x: float32[4], %i: int64[1]) {
  %0: float32[] = aten::sum(self=%x, dtype=None)
  %p: bool[] = aten::gt.Scalar(self=%0, other=0)
  %1: float32[4] = aten::relu(self=%x)
  %y: float32[4] = leapp::if(condition=%p, operands=[%i, %1], then=graph (%i: int64[1], %1: float32[4]) {
    %table = constant float32[3] [1, 2, 3]
    %2: float32[1] = aten::index_select(self=%table, dim=0, index=%i)
    %3: float32[4] = aten::mul.Tensor(self=%1, other=%2)
    return (0=%3)
  }, else=graph (%i: int64[1], %1: float32[4]) {
    return (0=%1)
  })  @ "robot.py":5 in "act"
  %4: float32[4] = aten::neg(self=%y)
  return (y=%4)
}
)");
}

TEST(SinkBranches, CheapSidesAndOtherConditionsStay) {
  const std::string text = R"(graph (%x: float32[4], %i: int64[4], %m: bool[4], %p: bool[]) {
  %no = constant bool[] [False]
  %0: float32[4] = aten::sin(self=%x)
  %1: float32[4] = aten::where.self(condition=%p, self=%0, other=%x)
  %2: float32[4] = aten::gather(self=%x, dim=0, index=%i, sparse_grad=False)
  %3: float32[4] = aten::where.self(condition=%m, self=%2, other=%x)
  %4: float32[4] = aten::gather(self=%0, dim=0, index=%i, sparse_grad=False)
  %5: float32[4] = aten::where.self(condition=%no, self=%4, other=%x)
  %6: float32[4] = aten::take(self=%x, index=%i)
  %7: float32[4] = aten::where.self(condition=%p, self=%6, other=%6)
  %8: float32[4] = aten::take(self=%1, index=%i)
  %9: float32[4] = aten::where.self(condition=%p, self=%8, other=%x)
  return (a=%1, b=%3, c=%5, d=%7, e=%9, f=%8)
}
)";
  EXPECT_EQ(sunk(text), text);
}

TEST(SinkBranches, ANetworkIsCostly) {
  const std::string text = R"(graph (%x: float32[1,64], %p: bool[], %a: float32[256,64], %b: float32[64,256]) {
  %0: float32[1,256] = aten::linear(input=%x, weight=%a, bias=None)
  %1: float32[1,256] = aten::tanh(self=%0)
  %2: float32[1,64] = aten::linear(input=%1, weight=%b, bias=None)
  %3: float32[1,64] = aten::where.self(condition=%p, self=%x, other=%2)
  return (y=%3)
}
)";
  const std::string found = sunk(text);
  EXPECT_NE(found.find("operands=[%x, %a, %b], then"), std::string::npos) << found;
  EXPECT_EQ(count(found, "aten::linear"), 2U);
  auto graph = parse(text);
  EXPECT_FALSE(sink_branches(graph.value(), {.costly = 1e9}));
}

TEST(SinkBranches, WheresOverOneConditionAndItsNegationAreOne) {
  const std::string found = sunk(R"(graph (%x: float32[4], %i: int64[4], %p: bool[], %h: float32[4]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[4] = aten::sin(self=%0)
  %2: float32[4] = aten::cos(self=%0)
  %not: bool[] = aten::logical_not(self=%p)
  %y: float32[4] = aten::where.self(condition=%p, self=%1, other=%x)
  %n: float32[4] = aten::where.self(condition=%not, self=%h, other=%2)
  %k: float32[4] = aten::where.self(condition=%p, self=%h, other=%x)
  return (y=%y, h=%n, k=%k)
}
)");
  EXPECT_EQ(found, R"(graph (%x: float32[4], %i: int64[4], %p: bool[], %h: float32[4]) {
  %y: float32[4], %n: float32[4] = leapp::if(condition=%p, operands=[%x, %i, %h], then=graph (%x: float32[4], %i: int64[4], %h: float32[4]) {
    %0: float32[4] = aten::take(self=%x, index=%i)
    %1: float32[4] = aten::sin(self=%0)
    %2: float32[4] = aten::cos(self=%0)
    return (0=%1, 1=%2)
  }, else=graph (%x: float32[4], %i: int64[4], %h: float32[4]) {
    return (0=%x, 1=%h)
  })
  %k: float32[4] = aten::where.self(condition=%p, self=%h, other=%x)
  return (y=%y, h=%n, k=%k)
}
)");
}

TEST(SinkBranches, ConditionalsStandInsideEachOther) {
  const std::string found = sunk(R"(graph (%x: float32[4], %i: int64[4], %p: bool[]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[] = aten::sum(self=%0, dtype=None)
  %q: bool[] = aten::gt.Scalar(self=%1, other=0)
  %2: float32[4] = aten::gather(self=%0, dim=0, index=%i, sparse_grad=False)
  %3: float32[4] = aten::where.self(condition=%q, self=%2, other=%0)
  %4: float32[4] = aten::where.self(condition=%p, self=%3, other=%x)
  return (y=%4)
}
)");
  EXPECT_EQ(found, R"(graph (%x: float32[4], %i: int64[4], %p: bool[]) {
  %4: float32[4] = leapp::if(condition=%p, operands=[%x, %i], then=graph (%x: float32[4], %i: int64[4]) {
    %0: float32[4] = aten::take(self=%x, index=%i)
    %1: float32[] = aten::sum(self=%0, dtype=None)
    %q: bool[] = aten::gt.Scalar(self=%1, other=0)
    %3: float32[4] = leapp::if(condition=%q, operands=[%0, %i], then=graph (%0: float32[4], %i: int64[4]) {
      %2: float32[4] = aten::gather(self=%0, dim=0, index=%i, sparse_grad=False)
      return (0=%2)
    }, else=graph (%0: float32[4], %i: int64[4]) {
      return (0=%0)
    })
    return (0=%3)
  }, else=graph (%x: float32[4], %i: int64[4]) {
    return (0=%x)
  })
  return (y=%4)
}
)");
}

TEST(SinkBranches, SidesBecomeWhatTheWhereMadeOfThem) {
  const std::string found = sunk(R"(graph (%x: int32[1,3], %i: int64[3], %p: bool[]) {
  %0: int32[3] = aten::take(self=%x, index=%i)
  %1: float32[2,3] = aten::where.ScalarOther(condition=%p, self=%0, other=1.5)
  return (y=%1)
}
)");
  EXPECT_NE(found.find("aten::to.dtype(self=%0, dtype=float32"), std::string::npos) << found;
  EXPECT_NE(found.find("aten::expand(self=%1, size=[2, 3], implicit=False)"), std::string::npos) << found;
  EXPECT_NE(found.find("aten::full(size=[2, 3], fill_value=1.5, dtype=float32"), std::string::npos) << found;
}

// One where reads what another one over the same condition gave: inside a side that is the side's own value.
TEST(SinkBranches, AWhereInsideASideOfItsOwnConditionIsDecided) {
  const std::string found = sunk(R"(graph (%x: float32[4], %i: int64[4], %p: bool[]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[4] = aten::where.self(condition=%p, self=%0, other=%x)
  %2: float32[4] = aten::gather(self=%1, dim=0, index=%i, sparse_grad=False)
  %3: float32[4] = aten::where.self(condition=%p, self=%2, other=%x)
  return (a=%1, b=%3)
}
)");
  EXPECT_NE(found.find("aten::gather(self=%0,"), std::string::npos) << found;
  EXPECT_EQ(count(found, "leapp::if"), 1U);
  EXPECT_EQ(count(found, "aten::where"), 0U);
}

// The second conditional needs what is computed from the first: they cannot be one.
TEST(SinkBranches, WhatWouldNeedItselfBecomesTwo) {
  const std::string found = sunk(R"(graph (%x: float32[4], %i: int64[4], %p: bool[]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[4] = aten::where.self(condition=%p, self=%0, other=%x)
  %2: float32[4] = aten::exp(self=%1)
  %3: float32[4] = aten::gather(self=%2, dim=0, index=%i, sparse_grad=False)
  %4: float32[4] = aten::where.self(condition=%p, self=%3, other=%x)
  return (a=%2, b=%4)
}
)");
  EXPECT_EQ(count(found, "leapp::if"), 2U) << found;
}

// What reads the first where stands before the last one, and has to make room.
TEST(SinkBranches, ReadersMoveBehindTheConditional) {
  const std::string found = sunk(R"(graph (%x: float32[4], %i: int64[4], %p: bool[]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[4] = aten::where.self(condition=%p, self=%0, other=%x)
  %2: float32[4] = aten::exp(self=%1)
  %3: float32[4] = aten::neg(self=%0)
  %4: float32[4] = aten::cos(self=%x)
  %5: float32[4] = aten::where.self(condition=%p, self=%3, other=%4)
  return (a=%2, b=%5)
}
)");
  EXPECT_EQ(count(found, "leapp::if"), 1U) << found;
  EXPECT_LT(found.find("leapp::if"), found.find("aten::exp")) << found;
}

// Both sides of %p need %0, but each only where %q says so: neither may leave it unguarded.
TEST(SinkBranches, WhatBothSidesNeedAndCanFailIsInBoth) {
  const std::string text = R"(graph (%x: float32[4], %i: int64[4], %p: bool[], %q: bool[]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[4] = aten::sin(self=%0)
  %2: float32[4] = aten::gather(self=%x, dim=0, index=%i, sparse_grad=False)
  %3: float32[4] = aten::where.self(condition=%q, self=%1, other=%2)
  %4: float32[4] = aten::cos(self=%0)
  %5: float32[4] = aten::where.self(condition=%q, self=%4, other=%x)
  %6: float32[4] = aten::where.self(condition=%p, self=%3, other=%5)
  return (y=%6)
}
)";
  const std::string found = sunk(text);
  EXPECT_EQ(count(found, "aten::take"), 2U) << found;
  EXPECT_EQ(count(found, "leapp::if"), 3U) << found;
  EXPECT_TRUE(found.find("\n  %0:") == std::string::npos) << found;
}

TEST(SinkBranches, RandomOperatorsMakeTheConditionalRandom) {
  const std::string found = sunk(R"(graph (%x: float32[4], %i: int64[4], %p: bool[]) {
  %0: float32[4] = aten::take(self=%x, index=%i)
  %1: float32[4] = random aten::rand_like(self=%0)
  %2: float32[4] = aten::where.self(condition=%p, self=%1, other=%x)
  return (a=%2)
}
)");
  EXPECT_NE(found.find("= random leapp::if("), std::string::npos) << found;
}

TEST(SinkBranches, IntegersDividedByComputedOnesCanFail) {
  const std::string found = sunk(R"(graph (%x: int64[4], %i: int64[4], %f: float32[4], %p: bool[]) {
  %0: int64[4] = aten::div.Tensor_mode(self=%x, other=%i, rounding_mode="floor")
  %1: int64[4] = aten::where.self(condition=%p, self=%0, other=%x)
  %2: float32[4] = aten::div.Tensor(self=%f, other=%f)
  %3: float32[4] = aten::where.self(condition=%p, self=%2, other=%f)
  %4: int64[4] = aten::remainder.Scalar(self=%x, other=3)
  %5: int64[4] = aten::where.self(condition=%p, self=%4, other=%i)
  return (a=%1, b=%3, c=%5)
}
)");
  EXPECT_EQ(count(found, "leapp::if"), 1U) << found;
  EXPECT_EQ(count(found, "aten::where"), 2U) << found;
}

}  // namespace
}  // namespace leapp::graph
