// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/sources.h"

#include <gtest/gtest.h>

#include "capture/trace/trace_builder.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

ValuePtr published(std::uint64_t pass) {
  Origin origin{.node = "pre", .port = "features", .pass = pass};
  origin.content_hash = 7;
  return make_value(TracedKind::kPublished, {}, std::move(origin));
}

class SourcesTest : public ::testing::Test {
 protected:
  SourcesTest() { recording_.log = log_.shared(); }
  std::optional<Source> find(const ValuePtr& value, std::uint64_t pass, std::uint64_t hash = 7) {
    return SourceFinder(pass, recording_).find("policy", "obs", value, [hash] { return hash; });
  }
  testing::TestLog log_;
  CaptureResult recording_;
  TraceBuilder builder_{[](auto&&...) {}};
};

TEST_F(SourcesTest, TheSamePassOrTheOneBefore) {
  const auto now = find(published(3), 3);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->node + "/" + now->port, "pre/features");
  EXPECT_FALSE(now->feedback);
  EXPECT_TRUE(find(published(2), 3)->feedback);
  EXPECT_FALSE(find(published(1), 3));  // more than one pass late
}

TEST_F(SourcesTest, NothingKnownOrOtherContentsIsNoEdge) {
  EXPECT_FALSE(find(nullptr, 0));
  EXPECT_FALSE(find(published(3), 3, 8));
}

TEST_F(SourcesTest, AnInputOrAConstantThatHeldItLeadsThere) {
  const ValuePtr input = make_value(TracedKind::kInput, {}, {.port = "x", .source = published(3)});
  EXPECT_TRUE(find(input, 3));
  auto cell = std::make_shared<LiteralCell>();
  cell->provenance = published(3);
  EXPECT_TRUE(find(make_constant(cell), 3));
}

TEST_F(SourcesTest, AnOperatorBetweenIsGlue) {
  const ValuePtr input = make_value(TracedKind::kInput, {at::kFloat, {2}}, {.port = "x", .source = published(3)});
  const ValuePtr computed = builder_.unary("aten::neg", builder_.unary("aten::relu", input));
  EXPECT_EQ(path_to(computed).op, "aten::relu");
  EXPECT_FALSE(find(computed, 3));
  EXPECT_FALSE(find(computed, 3));
  ASSERT_EQ(recording_.notes.size(), 1U);  // told once
  EXPECT_EQ(recording_.notes[0].source, "pre/features");
  EXPECT_FALSE(find(make_value(TracedKind::kGlue, {}, {.source = published(2), .glue_op = "aten::add"}), 3));
  EXPECT_EQ(recording_.notes.size(), 1U);  // across passes the environment stands between
}

}  // namespace
}  // namespace leapp::capture
