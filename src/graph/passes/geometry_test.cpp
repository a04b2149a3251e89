// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/geometry.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace leapp::graph {
namespace {

// The graph after the pass; both must verify.
std::string restored(const std::string& text) {
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return "";
  EXPECT_TRUE(verify(graph.value()).ok()) << verify(graph.value()).message();
  restore_views(graph.value());
  EXPECT_TRUE(verify(graph.value()).ok()) << verify(graph.value()).message();
  return print(graph.value());
}

// One read of x: int64[4,6].
std::string read(const std::string& type, const std::string& geometry) {
  return restored("graph (%x: int64[4,6]) {\n  %f: int64[24] = aten::reshape(self=%x, shape=[-1])\n  %y: int64[" +
                  type + "] = aten::as_strided(self=%f, " + geometry + ")  @ \"a.py\":3\n  return (y=%y)\n}\n");
}

std::string expected(const std::string& node) {
  return "graph (%x: int64[4,6]) {\n  " + node + "  @ \"a.py\":3\n  return (y=%0)\n}\n";
}

TEST(Geometry, SelectsAColumn) {
  EXPECT_EQ(read("4", "size=[4], stride=[6], storage_offset=2"),
            expected("%0: int64[4] = aten::select.int(self=%x, dim=1, index=2)"));
}

TEST(Geometry, SlicesRows) {
  EXPECT_EQ(read("2,6", "size=[2, 6], stride=[6, 1], storage_offset=6"),
            expected("%0: int64[2,6] = aten::slice.Tensor(self=%x, dim=0, start=1, end=3, step=1)"));
}

TEST(Geometry, SlicesWithStep) {
  EXPECT_EQ(read("4,3", "size=[4, 3], stride=[6, 2], storage_offset=0"),
            expected("%0: int64[4,3] = aten::slice.Tensor(self=%x, dim=1, start=0, end=6, step=2)"));
}

TEST(Geometry, KeepsADimensionOfOne) {
  EXPECT_EQ(read("4,1", "size=[4, 1], stride=[6, 1], storage_offset=2"),
            expected("%0: int64[4,1] = aten::slice.Tensor(self=%x, dim=1, start=2, end=3, step=1)"));
}

TEST(Geometry, Transposes) {
  EXPECT_EQ(read("6,4", "size=[6, 4], stride=[1, 6], storage_offset=0"),
            expected("%0: int64[6,4] = aten::permute(self=%x, dims=[1, 0])"));
}

TEST(Geometry, TakesTheDiagonal) {
  EXPECT_EQ(read("4", "size=[4], stride=[7], storage_offset=1"),
            expected("%0: int64[4] = aten::diagonal(self=%x, offset=1, dim1=0, dim2=1)"));
}

TEST(Geometry, Expands) {
  EXPECT_EQ(read("5,4,6", "size=[5, 4, 6], stride=[0, 6, 1], storage_offset=0"),
            expected("%0: int64[5,4,6] = aten::expand(self=%x, size=[5, 4, 6], implicit=False)"));
}

TEST(Geometry, Reshapes) {
  EXPECT_EQ(read("2,12", "size=[2, 12], stride=[12, 1], storage_offset=0"),
            expected("%0: int64[2,12] = aten::reshape(self=%x, shape=[2, 12])"));
}

TEST(Geometry, WholeReadIsTheValue) {
  EXPECT_EQ(read("4,6", "size=[4, 6], stride=[6, 1], storage_offset=0"),
            "graph (%x: int64[4,6]) {\n  return (y=%x)\n}\n");
}

TEST(Geometry, OffsetMayBeNone) {
  EXPECT_EQ(read("6", "size=[6], stride=[1], storage_offset=None"),
            expected("%0: int64[6] = aten::select.int(self=%x, dim=0, index=0)"));
}

TEST(Geometry, OverlappingWindowsStay) {
  const std::string text = read("22,3", "size=[22, 3], stride=[1, 1], storage_offset=0");
  EXPECT_NE(text.find("aten::as_strided("), std::string::npos);
}

TEST(Geometry, ScatterThenReadKeepsTheShape) {
  EXPECT_EQ(restored(R"(graph (%x: int64[4,6], %s: int64[4]) {
  %f: int64[24] = aten::reshape(self=%x, shape=[24])
  %g: int64[24] = aten::as_strided_scatter(self=%f, src=%s, size=[4], stride=[6], storage_offset=2)
  %h: int64[24] = aten::as_strided_scatter(self=%g, src=%s, size=[4], stride=[1], storage_offset=7)
  %y: int64[4,6] = aten::as_strided(self=%h, size=[4, 6], stride=[6, 1], storage_offset=0)
  return (y=%y)
}
)"),
            R"(graph (%x: int64[4,6], %s: int64[4]) {
  %0: int64[4,6] = aten::select_scatter(self=%x, src=%s, dim=1, index=2)
  %2: int64[6] = aten::select.int(self=%0, dim=0, index=1)
  %3: int64[6] = aten::slice_scatter(self=%2, src=%s, dim=0, start=1, end=5, step=1)
  %4: int64[4,6] = aten::select_scatter(self=%0, src=%3, dim=0, index=1)
  return (y=%4)
}
)");
}

TEST(Geometry, WholeOverwriteIsTheSource) {
  EXPECT_EQ(restored(R"(graph (%x: int64[4,6], %s: int64[6,4]) {
  %f: int64[24] = aten::reshape(self=%x, shape=[24])
  %g: int64[24] = aten::as_strided_scatter(self=%f, src=%s, size=[6, 4], stride=[1, 6], storage_offset=0)
  %y: int64[4,6] = aten::as_strided(self=%g, size=[4, 6], stride=[6, 1], storage_offset=0)
  return (y=%y)
}
)"),
            R"(graph (%x: int64[4,6], %s: int64[6,4]) {
  %0: int64[4,6] = aten::permute(self=%s, dims=[1, 0])
  return (y=%0)
}
)");
}

TEST(Geometry, ReadOfWhatWasWrittenIsTheSource) {
  EXPECT_EQ(restored(R"(graph (%x: int64[4,6], %s: int64[2,2]) {
  %f: int64[24] = aten::reshape(self=%x, shape=[24])
  %g: int64[24] = aten::as_strided_scatter(self=%f, src=%s, size=[2, 2], stride=[6, 1], storage_offset=3)
  %y: int64[2,2] = aten::as_strided(self=%g, size=[2, 2], stride=[6, 1], storage_offset=3)
  return (y=%y)
}
)"),
            "graph (%x: int64[4,6], %s: int64[2,2]) {\n  return (y=%s)\n}\n");
}

TEST(Geometry, ScatterWithDuplicatesStays) {
  const std::string text = restored(R"(graph (%x: int64[6], %s: int64[2,3]) {
  %g: int64[6] = aten::as_strided_scatter(self=%x, src=%s, size=[2, 3], stride=[0, 1], storage_offset=0)
  %y: int64[2,3] = aten::as_strided(self=%g, size=[2, 3], stride=[0, 1], storage_offset=0)
  return (y=%y)
}
)");
  EXPECT_NE(text.find("aten::as_strided_scatter("), std::string::npos);
  EXPECT_EQ(text.find("return (y=%s)"), std::string::npos);
}

TEST(Geometry, FlatStorageOfSeveralTensors) {
  EXPECT_EQ(restored(R"(graph (%x: int64[20]) {
  %y: int64[2,3] = aten::as_strided(self=%x, size=[2, 3], stride=[3, 1], storage_offset=7)
  return (y=%y)
}
)"),
            R"(graph (%x: int64[20]) {
  %0: int64[6] = aten::slice.Tensor(self=%x, dim=0, start=7, end=13, step=1)
  %1: int64[2,3] = aten::reshape(self=%0, shape=[2, 3])
  return (y=%1)
}
)");
}

TEST(Geometry, ScatterThatCastsStays) {
  const std::string text = restored(R"(graph (%x: int64[6], %s: float32[3]) {
  %g: int64[6] = aten::as_strided_scatter(self=%x, src=%s, size=[3], stride=[1], storage_offset=0)
  return (y=%g)
}
)");
  EXPECT_NE(text.find("aten::as_strided_scatter("), std::string::npos);
}

}  // namespace
}  // namespace leapp::graph
