// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/leaks.h"

#include <gtest/gtest.h>

#include "capture/hook/source_location.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::Analysed;

TEST(Leaks, SourceOfAConstant) {
  LiteralCell cell;
  EXPECT_FALSE(source_of(cell, 5));
  cell.provenance = make_value(TracedKind::kPublished, {}, {.node = "n", .port = "p", .pass = 4});
  EXPECT_EQ(source_of(cell, 5), (LeakSource{"n", "p", 0, 1}));
  cell.provenance->origin->constant = true;  // a static output
  EXPECT_FALSE(source_of(cell, 5));
  cell.provenance = make_value(TracedKind::kFormer, {}, {.node = "n", .pass = 3, .key = 9});
  EXPECT_EQ(source_of(cell, 5), (LeakSource{"n", "", 9, 2}));
  cell.provenance->origin->part = true;
  EXPECT_FALSE(source_of(cell, 5));
  cell.provenance->origin->part = false;
  cell.drawn = Drawn::kElsewhere;
  EXPECT_FALSE(source_of(cell, 5));
}

TEST(Leaks, WithoutANameMessagesSayWhereItIsRead) {
  Leak leak;
  leak.location = intern_location("walk.py", 7, "");
  EXPECT_EQ(title(leak), "what is read at walk.py:7");
  leak.name = "integral";
  EXPECT_EQ(title(leak), "'integral'");
}

TEST(Leaks, ContainsNeedsTheSameElements) {
  const Geometry outer = dense_geometry({at::kFloat, {4}});
  Geometry inner = dense_geometry({at::kFloat, {2}});
  inner.byte_offset = 8;
  EXPECT_TRUE(contains(outer, inner));
  inner.byte_offset = 12;
  EXPECT_FALSE(contains(outer, inner));
  EXPECT_FALSE(contains(outer, dense_geometry({at::kInt, {2}})));
}

constexpr const char* kTwoParts = R"(
call n in pass 0
graph n(%x: float32[1]) {
  %first = constant float32[1] [5]
  %second = constant float32[1] [6]
  %0: float32[1] = aten::add.Tensor(self=%first, other=%x, alpha=1)
  %1: float32[1] = aten::add.Tensor(self=%second, other=%0, alpha=1)
  return (y=%1)
}
memory @m = float32[2] [5, 6] ALIVE
wrote @m float32[1]
holds @m float32[2] = %0
constant %first copied overwritten in @m float32[1]
constant %second copied overwritten in @m float32[1] offset 1
)";

std::string two_parts(const std::string& alive) {
  std::string text = kTwoParts;
  return text.replace(text.find("ALIVE"), 5, alive);
}

// Of memory that is state, also what happens to stay the same is read from the state.
TEST(Leaks, WhatStaysTheSameInStateIsStateToo) {
  Analysed result(two_parts(""));
  ASSERT_EQ(result.node("n").leaks.size(), 1U);
  EXPECT_EQ(result.node("n").leaks[0].uses.size(), 2U);
  EXPECT_NE(result.graph("n").find("aten::as_strided"), std::string::npos) << result.graph("n");
}

TEST(Leaks, MemoryThatIsGoneCannotBeReadAgain) {
  Analysed result(two_parts("gone"));
  EXPECT_TRUE(result.node("n").leaks.empty());
}

TEST(Leaks, ARandomConstantIsNone) {
  Analysed result(R"(
call n in pass 0
graph n(%x: float32[1]) {
  %r = constant float32[1] [5]
  %0: float32[1] = aten::add.Tensor(self=%r, other=%x, alpha=1)
  return (y=%0)
}
memory @m = float32[1] [5]
wrote @m float32[1]
holds @m float32[1] = %0
constant %r random copied overwritten in @m float32[1]
)");
  EXPECT_TRUE(result.node("n").leaks.empty());
}

TEST(Leaks, ABufferThatIsGoneIsAConstant) {
  Analysed result(R"(
call n in pass 0
graph n(%x: float32[1]) {
  %h = constant float32[1] [5]
  %0: float32[1] = aten::add.Tensor(self=%h, other=%x, alpha=1)
  return (y=%0)
}
memory @h = float32[1] [5]
constant %h in @h float32[1]
buffer "h" declared in @h float32[1] gone
)");
  EXPECT_TRUE(result.node("n").leaks.empty());
  EXPECT_EQ(result.ports(), "n(x) -> (y)\n");
}

}  // namespace
}  // namespace leapp::capture
