// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/literal_trace.h"

#include <gtest/gtest.h>

#include "capture/trace/trace_builder.h"
#include "capture/trace/trace_text.h"

namespace leapp::capture {
namespace {

TEST(LiteralTrace, ContentsAreWhatIsWrittenDown) {
  const auto trace = parse_trace(
      "call n in pass 0\ngraph n() {\n  %c = constant float32[2,2] [1, 2, 3, 4]\n  return (y=%c)\n}\n"
      "memory @m = float32[2,2] [1, 2, 3, 4]\n");
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const TracedCall& call = trace.value().calls[0];
  const ContentPtr content = call.values[0].second->cell->copy();
  EXPECT_EQ(content->text(), "[1, 2, 3, 4]");
  EXPECT_EQ(content->type(), (ValueType{at::kFloat, {2, 2}}));
  Geometry column = dense_geometry({at::kFloat, {2}});
  column.strides = {2};
  column.byte_offset = 4;
  const ContentPtr part = call.memories[0].first->content_before(column);
  EXPECT_EQ(part->text(), "[2, 4]");
  EXPECT_FALSE(same_content(*content, *part));
  LiteralEvaluator evaluator;
  TraceBuilder builder([](auto&&...) {});
  const auto negated = [&] { return evaluator.value_of(builder.unary("aten::neg", call.values[0].second)); };
  EXPECT_TRUE(same_content(*negated(), *negated()));
  EXPECT_FALSE(same_content(*negated(), *content));
}

}  // namespace
}  // namespace leapp::capture
