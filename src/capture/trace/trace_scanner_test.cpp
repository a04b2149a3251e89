// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace_scanner.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/trace/literal_trace.h"
#include "capture/trace/trace_testing.h"

namespace leapp::capture {
namespace {

using testing::says;

class TraceScannerTest : public ::testing::Test {
 protected:
  TraceScannerTest() {
    TraceScanner scanner("float32[2,2] [1, 2, 3, 4]");
    memory_ = std::make_shared<LiteralMemory>("m", scanner.literal().value());
  }
  Result<Geometry> geometry(const char* text) { return TraceScanner(text).geometry(*memory_); }

  std::shared_ptr<LiteralMemory> memory_;
};

TEST_F(TraceScannerTest, PlacesAreDenseUnlessTheySayOtherwise) {
  const Geometry dense = geometry("float32[2,2]").value();
  EXPECT_EQ(dense.strides, c10::DimVector({2, 1}));
  EXPECT_EQ(dense.byte_offset, 0);
  const Geometry column = geometry("float32[2] strides [2] offset 1").value();
  EXPECT_EQ(column.strides, c10::DimVector({2}));
  EXPECT_EQ(column.byte_offset, 4);
  EXPECT_TRUE(says(geometry("float32[5]").status().message(), "line 1: it does not lie within the memory"));
  EXPECT_TRUE(says(geometry("thing[2]").status().message(), "expected a type"));
  EXPECT_TRUE(says(geometry("float32[2,x]").status().message(), "expected a number"));
}

TEST_F(TraceScannerTest, LinesPassesAndNames) {
  TraceScanner scanner("\"p.py\":12 pass 3 %v pass -1");
  EXPECT_EQ(location_text(scanner.location().value()), "p.py:12");
  EXPECT_EQ(scanner.pass().value(), 3U);
  EXPECT_EQ(scanner.value_name().value(), "v");
  EXPECT_FALSE(scanner.pass().ok());
}

TEST_F(TraceScannerTest, ALiteralEndsWithItsLine) {
  TraceScanner scanner("int64[2] [7, 8] gone\nnext");
  const graph::Constant constant = scanner.literal().value();
  EXPECT_EQ(LiteralContent(constant).text(), "[7, 8]");
  EXPECT_TRUE(scanner.accept("gone"));
  EXPECT_TRUE(scanner.accept("next"));
  EXPECT_TRUE(says(TraceScanner("float32[2] [1]").literal().status().message(), "the content that begins here"));
  EXPECT_TRUE(says(TraceScanner("nothing").literal().status().message(), "expected a type and its elements"));
}

TEST_F(TraceScannerTest, AGraphEndsWithItsBracket) {
  TraceScanner scanner("graph n(%x: float32[2]) {\n  return (y=%x)\n}\nkeep");
  EXPECT_EQ(scanner.graph().value().outputs().size(), 1U);
  EXPECT_TRUE(scanner.accept("keep"));
  EXPECT_TRUE(says(TraceScanner("graph n() {").graph().status().message(), "the graph has no end"));
  EXPECT_TRUE(says(TraceScanner("\n\nkeep").graph().status().message(), "line 3: expected a graph"));
}

}  // namespace
}  // namespace leapp::capture
