// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/masks/dense_rows.h"

#include "graph/passes/pass_testing.h"

namespace leapp::graph {
namespace {

std::string dense(const std::string& text) {
  return testing::after(text, [](Graph& graph) { return write_rows_densely(graph); });
}

/// Why the rows of the first operator that makes some stay; the graph must be as it was.
std::string reason(const std::string& text) {
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return "";
  std::vector<DataLength> found;
  EXPECT_FALSE(write_rows_densely(graph.value(), &found));
  EXPECT_EQ(print(graph.value()), text);
  return found.empty() ? "" : found.front().why;
}

TEST(DenseRows, ReadsAndWritesRowsAsTheyStand) {
  EXPECT_EQ(dense(R"(graph (%x: float32[4,3], %m: bool[4]) {
  %0: int64[2,1] = aten::nonzero(self=%m)
  %1: int64[2] = aten::squeeze.dim(self=%0, dim=-1)
  %2: float32[2,3] = aten::index.Tensor(self=%x, indices=[%1])
  %3: float32[2,3] = aten::tanh(self=%2)
  %4: float32[4,3] = aten::index_put(self=%x, indices=[%1], values=%3, accumulate=False)
  return (y=%4)
}
)"),
            R"(graph (%x: float32[4,3], %m: bool[4]) {
  %6: float32[4,3] = aten::tanh(self=%x)
  %7: bool[4,1] = aten::reshape(self=%m, shape=[4, 1])
  %8: float32[4,3] = aten::where.self(condition=%7, self=%6, other=%x)
  return (y=%8)
}
)");
}

// Two calls that went different ways, one with three rows and one with one, which were put together.
TEST(DenseRows, WaysThatCountedAnotherNumberOfRowsEach) {
  EXPECT_EQ(dense(R"(graph (%x: float32[4], %m: bool[4], %p: bool[]) {
  %0: float32[3] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[3] = aten::tanh(self=%0)
  %2: float32[4] = aten::index_put(self=%x, indices=[%m], values=%1, accumulate=False)
  %3: float32[1] = aten::index.Tensor(self=%x, indices=[%m])
  %4: float32[1] = aten::neg(self=%3)
  %5: float32[4] = aten::index_put(self=%x, indices=[%m], values=%4, accumulate=False)
  %6: float32[4] = aten::where.self(condition=%p, self=%2, other=%5)
  return (y=%6)
}
)"),
            R"(graph (%x: float32[4], %m: bool[4], %p: bool[]) {
  %7: float32[4] = aten::tanh(self=%x)
  %8: float32[4] = aten::where.self(condition=%m, self=%7, other=%x)
  %9: float32[4] = aten::neg(self=%x)
  %10: float32[4] = aten::where.self(condition=%m, self=%9, other=%x)
  %6: float32[4] = aten::where.self(condition=%p, self=%8, other=%10)
  return (y=%6)
}
)");
}

/// How many of them are left after the pass, which must have fixed every length.
std::size_t count_after(const std::string& text, std::string_view op) {
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return 0;
  std::vector<DataLength> found;
  EXPECT_TRUE(write_rows_densely(graph.value(), &found)) << (found.empty() ? "" : found.front().why);
  EXPECT_FALSE(has_data_lengths(graph.value())) << print(graph.value());
  EXPECT_EQ(outputs_of_data_length(graph.value()), std::vector<const Node*>{nullptr});
  std::size_t count = 0;
  for (const auto& node : graph.value().nodes()) count += node->op() == op ? 1 : 0;
  return count;
}

TEST(DenseRows, OneRowByItsNumber) {
  const std::string text = R"(graph (%x: float32[4,3], %m: bool[4]) {
  %0: float32[2,3] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[3] = aten::select.int(self=%0, dim=0, index=INDEX)
  return (y=%1)
}
)";
  for (const std::string index : {"0", "-1"}) {
    std::string graph = text;
    graph.replace(graph.find("INDEX"), 5, index);
    EXPECT_EQ(count_after(graph, "aten::index_select"), 1U);
    // Counted from the end, it takes how many there are.
    EXPECT_EQ(count_after(graph, "aten::sum"), index == "0" ? 1U : 2U);
  }
}

TEST(DenseRows, RowsThatDoNotCountWriteBehindTheLastPlace) {
  EXPECT_EQ(dense(R"(graph (%x: float32[4], %to: int64[4], %m: bool[4]) {
  %0: int64[2] = aten::index.Tensor(self=%to, indices=[%m])
  %1: float32[2] = aten::index.Tensor(self=%x, indices=[%m])
  %2: float32[4] = aten::index_put(self=%x, indices=[%0], values=%1, accumulate=False)
  return (y=%2)
}
)"),
            R"(graph (%x: float32[4], %to: int64[4], %m: bool[4]) {
  %constant_3 = constant int64[] [0]
  %constant_4 = constant int64[] [4]
  %constant_5 = constant int64[] [4]
  %4: bool[4] = aten::lt.Tensor(self=%to, other=%constant_3)
  %5: int64[4] = aten::add.Tensor(self=%to, other=%constant_4, alpha=1)
  %6: int64[4] = aten::where.self(condition=%4, self=%5, other=%to)
  %7: int64[4] = aten::where.self(condition=%m, self=%6, other=%constant_5)
  %8: float32[1] = aten::slice.Tensor(self=%x, dim=0, start=0, end=1, step=1)
  %9: float32[5] = aten::cat(tensors=[%x, %8], dim=0)
  %10: float32[5] = aten::index_put(self=%9, indices=[%7], values=%x, accumulate=False)
  %11: float32[4] = aten::slice.Tensor(self=%10, dim=0, start=0, end=4, step=1)
  return (y=%11)
}
)");
}

// boxes[nms(boxes, scores)[:2]], padded to two rows
constexpr const char* kSuppressed = R"(graph (%boxes: float32[6,4], %scores: float32[6]) {
  %0: int64[3] = torchvision::nms(dets=%boxes, scores=%scores, iou_threshold=0.5)
  %1: int64[2] = aten::slice.Tensor(self=%0, dim=0, start=0, end=2, step=1)
  %2: float32[2,4] = aten::index.Tensor(self=%boxes, indices=[%1])
  %3: float32[2,4] = aten::constant_pad_nd(self=%2, pad=[0, 0, 0, 0], value=0)
  return (y=%3)
}
)";

TEST(DenseRows, BoxesThatStayAreAllBoxesAndAMask) {
  EXPECT_EQ(count_after(kSuppressed, "torchvision::nms"), 1U);
  EXPECT_EQ(count_after(kSuppressed, "aten::constant_pad_nd"), 0U);
}

TEST(DenseRows, BoxesThatStayOfThoseAMaskChose) {
  EXPECT_EQ(count_after(R"(graph (%boxes: float32[6,4], %scores: float32[6], %m: bool[6]) {
  %0: float32[4,4] = aten::index.Tensor(self=%boxes, indices=[%m])
  %1: float32[4] = aten::index.Tensor(self=%scores, indices=[%m])
  %2: int64[3] = torchvision::nms(dets=%0, scores=%1, iou_threshold=0.5)
  %3: float32[3,4] = aten::index.Tensor(self=%0, indices=[%2])
  %4: float32[4] = aten::sum.dim_IntList(self=%3, dim=[0], keepdim=False, dtype=None)
  return (y=%4)
}
)",
                        "torchvision::nms"),
            1U);
}

TEST(DenseRows, BoxesOfAnUnknownNumberAreNoOutput) {
  EXPECT_EQ(reason(R"(graph (%boxes: float32[6,4], %scores: float32[6]) {
  %0: int64[3] = torchvision::nms(dets=%boxes, scores=%scores, iou_threshold=0.5)
  return (y=%0)
}
)"),
            "its rows are the output 'y'");
}

TEST(DenseRows, PaddingInFrontOfRowsStays) {
  EXPECT_EQ(reason(R"(graph (%x: float32[6,4], %m: bool[6]) {
  %0: float32[4,4] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[5,4] = aten::constant_pad_nd(self=%0, pad=[0, 0, 1, 0], value=0)
  return (y=%1)
}
)"),
            "aten::constant_pad_nd: it adds more than rows behind the others");
}

TEST(DenseRows, AMaskOfTwoDimensionsIsOneFrame) {
  EXPECT_EQ(dense(R"(graph (%x: float32[2,3], %m: bool[2,3]) {
  %0: float32[4] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[4] = aten::sqrt(self=%0)
  %2: float32[2,3] = aten::index_put(self=%x, indices=[%m], values=%1, accumulate=False)
  return (y=%2)
}
)"),
            R"(graph (%x: float32[2,3], %m: bool[2,3]) {
  %3: bool[6] = aten::reshape(self=%m, shape=[6])
  %4: float32[6] = aten::reshape(self=%x, shape=[6])
  %5: float32[6] = aten::sqrt(self=%4)
  %6: float32[2,3] = aten::reshape(self=%5, shape=[2, 3])
  %7: bool[2,3] = aten::reshape(self=%3, shape=[2, 3])
  %8: float32[2,3] = aten::where.self(condition=%7, self=%6, other=%x)
  return (y=%8)
}
)");
}

TEST(DenseRows, ReductionsLeaveOutWhatWasNotChosen) {
  EXPECT_EQ(dense(R"(graph (%x: float32[4,3], %m: bool[4]) {
  %0: float32[2,3] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[3] = aten::sum.dim_IntList(self=%0, dim=[0], keepdim=False, dtype=None)
  %2: float32[] = aten::max(self=%0)
  %3: float32[2] = aten::mean.dim(self=%0, dim=[1], keepdim=False, dtype=None)
  %4: float32[] = aten::mean(self=%3, dtype=None)
  return (sum=%1, max=%2, mean=%4)
}
)"),
            R"(graph (%x: float32[4,3], %m: bool[4]) {
  %constant_1 = constant float32[] [0]
  %constant_2 = constant float32[] [-inf]
  %constant_3 = constant float32[] [0]
  %5: bool[4,1] = aten::reshape(self=%m, shape=[4, 1])
  %6: float32[4,3] = aten::where.self(condition=%5, self=%x, other=%constant_1)
  %7: float32[3] = aten::sum.dim_IntList(self=%6, dim=[0], keepdim=False, dtype=None)
  %8: bool[4,1] = aten::reshape(self=%m, shape=[4, 1])
  %9: float32[4,3] = aten::where.self(condition=%8, self=%x, other=%constant_2)
  %10: float32[] = aten::max(self=%9)
  %11: float32[4] = aten::mean.dim(self=%x, dim=[1], keepdim=False, dtype=None)
  %12: float32[4] = aten::where.self(condition=%m, self=%11, other=%constant_3)
  %13: float32[] = aten::sum.dim_IntList(self=%12, dim=[0], keepdim=False, dtype=float32)
  %14: int64[4] = aten::to.dtype(self=%m, dtype=int64, non_blocking=False, copy=False, memory_format=None)
  %15: int64[] = aten::sum.dim_IntList(self=%14, dim=[0], keepdim=False, dtype=int64)
  %16: float32[] = aten::to.dtype(self=%15, dtype=float32, non_blocking=False, copy=False, memory_format=None)
  %17: float32[] = aten::div.Tensor(self=%13, other=%16)
  return (sum=%7, max=%10, mean=%17)
}
)");
}

TEST(DenseRows, IntegersAreNotDividedByWhatWasNotChosen) {
  EXPECT_EQ(dense(R"(graph (%x: int64[3], %m: bool[3]) {
  %0: int64[2] = aten::masked_select(self=%x, mask=%m)
  %1: int64[2] = aten::floor_divide(self=%0, other=%0)
  %2: int64[] = aten::sum(self=%1, dtype=None)
  return (y=%2)
}
)"),
            R"(graph (%x: int64[3], %m: bool[3]) {
  %constant_0 = constant int64[] [1]
  %constant_1 = constant int64[] [0]
  %3: int64[3] = aten::where.self(condition=%m, self=%x, other=%constant_0)
  %4: int64[3] = aten::floor_divide(self=%x, other=%3)
  %5: int64[3] = aten::where.self(condition=%m, self=%4, other=%constant_1)
  %6: int64[] = aten::sum(self=%5, dtype=None)
  return (y=%6)
}
)");
}

TEST(DenseRows, WhatWasMadeForTheRowsIsMadeForAll) {
  EXPECT_EQ(dense(R"(graph (%x: float32[3,2], %g: float32[2], %m: bool[3]) {
  %c = constant float32[2,1] [0.5, 0.5]
  %0: float32[2,2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[2,2] = aten::expand(self=%g, size=[2, 2], implicit=False)
  %2: float32[2,2] = aten::add.Tensor(self=%0, other=%1, alpha=1)
  %3: float32[2,3] = aten::cat(tensors=[%2, %c], dim=1)
  %4: float32[3] = aten::amax(self=%3, dim=[0], keepdim=False)
  return (y=%4)
}
)"),
            R"(graph (%x: float32[3,2], %g: float32[2], %m: bool[3]) {
  %constant_1 = constant float32[1,1] [0.5]
  %constant_2 = constant float32[] [-inf]
  %5: float32[1,2] = aten::expand(self=%g, size=[1, 2], implicit=False)
  %6: float32[3,2] = aten::add.Tensor(self=%x, other=%5, alpha=1)
  %7: float32[3,1] = aten::expand(self=%constant_1, size=[3, 1], implicit=False)
  %8: float32[3,3] = aten::cat(tensors=[%6, %7], dim=1)
  %9: bool[3,1] = aten::reshape(self=%m, shape=[3, 1])
  %10: float32[3,3] = aten::where.self(condition=%9, self=%8, other=%constant_2)
  %11: float32[3] = aten::amax(self=%10, dim=[0], keepdim=False)
  return (y=%11)
}
)");
}

TEST(DenseRows, NoRowsInTheFirstCall) {
  EXPECT_EQ(dense(R"(graph (%x: float32[3,2], %m: bool[3]) {
  %0: float32[0,2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[0,2] = aten::full(size=[0, 2], fill_value=2.0, dtype=float32, layout=None, device=None, pin_memory=None)
  %2: float32[0,2] = aten::mul.Tensor(self=%0, other=%1)
  %3: float32[3,2] = aten::index_put(self=%x, indices=[%m], values=%2, accumulate=True)
  return (y=%3)
}
)"),
            R"(graph (%x: float32[3,2], %m: bool[3]) {
  %4: float32[1,2] = aten::full(size=[1, 2], fill_value=2.0, dtype=float32, layout=None, device=None, pin_memory=None)
  %5: float32[3,2] = aten::mul.Tensor(self=%x, other=%4)
  %6: bool[3,1] = aten::reshape(self=%m, shape=[3, 1])
  %7: float32[3,2] = aten::add.Tensor(self=%x, other=%5, alpha=1)
  %8: float32[3,2] = aten::where.self(condition=%6, self=%7, other=%x)
  return (y=%8)
}
)");
}

TEST(DenseRows, RowsAmongRows) {
  EXPECT_EQ(dense(R"(graph (%x: float32[3,2], %m: bool[3]) {
  %0: int64[2,1] = aten::nonzero(self=%m)
  %1: int64[2] = aten::reshape(self=%0, shape=[2])
  %2: float32[2,2] = aten::index.Tensor(self=%x, indices=[%1])
  %3: float32[2] = aten::select.int(self=%2, dim=1, index=0)
  %4: bool[2] = aten::gt.Scalar(self=%3, other=0)
  %5: int64[1,1] = aten::nonzero(self=%4)
  %6: int64[1] = aten::select.int(self=%5, dim=1, index=0)
  %7: int64[1] = aten::index.Tensor(self=%1, indices=[%6])
  %8: float32[1,2] = aten::index.Tensor(self=%2, indices=[%6])
  %9: float32[3,2] = aten::index_put(self=%x, indices=[%7], values=%8, accumulate=False)
  return (y=%9)
}
)"),
            R"(graph (%x: float32[3,2], %m: bool[3]) {
  %11: float32[3] = aten::select.int(self=%x, dim=1, index=0)
  %12: bool[3] = aten::gt.Scalar(self=%11, other=0)
  %13: bool[3] = aten::logical_and(self=%m, other=%12)
  %19: bool[3,1] = aten::reshape(self=%13, shape=[3, 1])
  %20: float32[3,2] = aten::where.self(condition=%19, self=%x, other=%x)
  return (y=%20)
}
)");
}

TEST(DenseRows, GivesUpOnAllRowsOfAMaskAndSaysWhy) {
  EXPECT_EQ(reason(R"(graph (%x: float32[4,3], %m: bool[4]) {
  %0: float32[2,3] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[3] = aten::sum.dim_IntList(self=%0, dim=[0], keepdim=False, dtype=None)
  %2: float32[2,3], %3: int64[2,3] = aten::sort(self=%0, dim=0, descending=False)
  %4: float32[3] = aten::select.int(self=%2, dim=0, index=0)
  return (y=%1, z=%4)
}
)"),
            "aten::sort: it looks at all rows together");
}

TEST(DenseRows, RowsThatAreAnOutputStay) {
  EXPECT_EQ(reason(R"(graph (%x: float32[4], %m: bool[4]) {
  %0: float32[2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[2] = aten::neg(self=%0)
  return (y=%1)
}
)"),
            "its rows are the output 'y'");
}

TEST(DenseRows, RowsOfTwoMasksDoNotMix) {
  EXPECT_EQ(reason(R"(graph (%x: float32[4], %m: bool[4], %n: bool[4]) {
  %0: float32[2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[2] = aten::index.Tensor(self=%x, indices=[%n])
  %2: float32[2] = aten::add.Tensor(self=%0, other=%1, alpha=1)
  %3: float32[] = aten::sum(self=%2, dtype=None)
  return (y=%3)
}
)"),
            "aten::add.Tensor: it combines rows that different masks chose");
}

TEST(DenseRows, FixedNumbersOfAsManyRowsAreNotSpread) {
  EXPECT_EQ(reason(R"(graph (%x: float32[4], %m: bool[4]) {
  %c = constant float32[2] [1, 2]
  %0: float32[2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[2] = aten::mul.Tensor(self=%0, other=%c)
  %2: float32[] = aten::sum(self=%1, dtype=None)
  return (y=%2)
}
)"),
            "aten::mul.Tensor: it combines its rows with float32[2], which has as many in the first call");
}

// A group that has no dense form must not keep another from having one.
TEST(DenseRows, OtherMasksAreWrittenDenselyAllTheSame) {
  auto graph = parse(R"(graph (%x: float32[4], %m: bool[4], %n: bool[4]) {
  %0: float32[2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[3] = aten::index.Tensor(self=%x, indices=[%n])
  %2: float32[] = aten::median(self=%0)
  %3: float32[] = aten::sum(self=%1, dtype=None)
  return (y=%2, z=%3)
}
)");
  ASSERT_TRUE(graph.ok());
  std::vector<DataLength> found;
  EXPECT_TRUE(write_rows_densely(graph.value(), &found));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].why, "");
  EXPECT_EQ(found[1].why, "");
}

TEST(DenseRows, AnOutputIsOfDataLengthOnlyIfItsShapeIs) {
  const auto graph = parse(R"(graph (%x: float32[2], %m: bool[2]) {
  %0: float32[2] = aten::index.Tensor(self=%x, indices=[%m])
  %1: float32[2] = aten::neg(self=%0)
  %2: float32[2] = aten::index_put(self=%x, indices=[%m], values=%1, accumulate=False)
  %3: float32[] = aten::sum(self=%1, dtype=None)
  return (rows=%1, back=%2, sum=%3)
}
)");
  ASSERT_TRUE(graph.ok());
  const auto because = outputs_of_data_length(graph.value());
  ASSERT_EQ(because.size(), 3U);
  ASSERT_NE(because[0], nullptr);
  EXPECT_EQ(because[0]->op(), "aten::index");
  EXPECT_EQ(because[1], nullptr);
  EXPECT_EQ(because[2], nullptr);
}

}  // namespace
}  // namespace leapp::graph
