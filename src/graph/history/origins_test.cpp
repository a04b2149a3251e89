// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/origins.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "graph/text.h"
#include "graph/verify.h"

namespace leapp::graph {
namespace {

/// "h0 h1 x0 -": the origins of the graph's first output.
std::string origins_of(const std::string& body) {
  const std::string text =
      "graph g(%h: float32[6], %m: float32[2,3], %x: float32[2], %i: int64[]) {\n" + body + "\n}\n";
  auto graph = parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
  if (!graph.ok()) return "";
  const Status legal = verify(graph.value());
  EXPECT_TRUE(legal.ok()) << legal.message();
  Origins origins(graph.value());
  std::string result;
  for (const Element& element : origins.of(graph.value().outputs()[0].value)) {
    if (!result.empty()) result += ' ';
    result += element.value == nullptr ? "-" : fmt::format("{}{}", element.value->name(), element.index);
  }
  return result;
}

TEST(Origins, Views) {
  EXPECT_EQ(origins_of(R"(%0: float32[2] = aten::slice.Tensor(self=%h, dim=0, start=1, end=5, step=2)
    return (y=%0))"),
            "h1 h3");
  EXPECT_EQ(origins_of(R"(%0: float32[5] = aten::slice.Tensor(self=%h, dim=-1, start=1, end=9223372036854775807, step=1)
    return (y=%0))"),
            "h1 h2 h3 h4 h5");
  EXPECT_EQ(origins_of(R"(%0: float32[5] = aten::slice.Tensor(self=%h, dim=0, start=None, end=-1, step=1)
    return (y=%0))"),
            "h0 h1 h2 h3 h4");
  EXPECT_EQ(origins_of(R"(%0: float32[2] = aten::select.int(self=%m, dim=1, index=-1)
    return (y=%0))"),
            "m2 m5");
  EXPECT_EQ(origins_of(R"(%0: float32[3,2] = aten::permute(self=%m, dims=[1, 0])
    return (y=%0))"),
            "m0 m3 m1 m4 m2 m5");
  EXPECT_EQ(origins_of(R"(%0: float32[3,2] = aten::transpose.int(self=%m, dim0=-1, dim1=0)
    return (y=%0))"),
            "m0 m3 m1 m4 m2 m5");
  EXPECT_EQ(origins_of(R"(%0: float32[2,2] = aten::expand(self=%x, size=[2, 2], implicit=False)
    return (y=%0))"),
            "x0 x1 x0 x1");
  EXPECT_EQ(origins_of(R"(%0: float32[2] = aten::diagonal(self=%m, offset=0, dim1=0, dim2=1)
    return (y=%0))"),
            "m0 m4");
  EXPECT_EQ(origins_of(R"(%0: float32[2,2] = aten::as_strided(self=%h, size=[2, 2], stride=[3, 1], storage_offset=1)
    return (y=%0))"),
            "h1 h2 h4 h5");
}

TEST(Origins, Pieces) {
  EXPECT_EQ(origins_of(R"(%a: float32[2], %b: float32[2], %c: float32[2] = aten::unbind.int(self=%m, dim=1)
    return (y=%b))"),
            "m1 m4");
  EXPECT_EQ(origins_of(R"(%a: float32[2,2], %b: float32[2,1] = aten::split.Tensor(self=%m, split_size=2, dim=-1)
    return (y=%b))"),
            "m2 m5");
  EXPECT_EQ(origins_of(R"(%0: float32[2] = aten::narrow(self=%h, dim=0, start=-3, length=2)
    return (y=%0))"),
            "h3 h4");
}

TEST(Origins, AxesInAnotherOrder) {
  EXPECT_EQ(origins_of(R"(%0: float32[3,2] = aten::movedim.int(self=%m, source=0, destination=1)
    return (y=%0))"),
            "m0 m3 m1 m4 m2 m5");
  EXPECT_EQ(origins_of(R"(%0: float32[3,2] = aten::numpy_T(self=%m)
    return (y=%0))"),
            "m0 m3 m1 m4 m2 m5");
}

TEST(Origins, Scatters) {
  EXPECT_EQ(origins_of(R"(%0: float32[6] = aten::slice_scatter(self=%h, src=%x, dim=0, start=2, end=4, step=1)
    return (y=%0))"),
            "h0 h1 x0 x1 h4 h5");
  EXPECT_EQ(origins_of(R"(%0: float32[2,3] = aten::select_scatter(self=%m, src=%x, dim=1, index=2)
    return (y=%0))"),
            "m0 m1 x0 m3 m4 x1");
  EXPECT_EQ(
      origins_of(R"(%0: float32[6] = aten::as_strided_scatter(self=%h, src=%x, size=[2], stride=[3], storage_offset=2)
    return (y=%0))"),
      "h0 h1 x0 h3 h4 x1");
}

TEST(Origins, Joins) {
  EXPECT_EQ(origins_of(R"(%0: float32[8] = aten::cat(tensors=[%h, %x], dim=0)
    return (y=%0))"),
            "h0 h1 h2 h3 h4 h5 x0 x1");
  EXPECT_EQ(origins_of(R"(%r: float32[2,1] = aten::unsqueeze(self=%x, dim=1)
    %0: float32[2,4] = aten::cat(tensors=[%m, %r], dim=-1)
    return (y=%0))"),
            "m0 m1 m2 x0 m3 m4 m5 x1");
  EXPECT_EQ(origins_of(R"(%0: float32[2,2] = aten::column_stack(tensors=[%x, %x])
    return (y=%0))"),
            "x0 x0 x1 x1");
  EXPECT_EQ(origins_of(R"(%0: float32[8] = aten::hstack(tensors=[%x, %h])
    return (y=%0))"),
            "x0 x1 h0 h1 h2 h3 h4 h5");
  EXPECT_EQ(origins_of(R"(%0: float32[2,2] = aten::stack(tensors=[%x, %x], dim=1)
    return (y=%0))"),
            "x0 x0 x1 x1");
}

TEST(Origins, RollFlipRepeatPad) {
  EXPECT_EQ(origins_of(R"(%0: float32[6] = aten::roll(self=%h, shifts=[-1], dims=[0])
    return (y=%0))"),
            "h1 h2 h3 h4 h5 h0");
  EXPECT_EQ(origins_of(R"(%0: float32[2,3] = aten::roll(self=%m, shifts=[1], dims=[1])
    return (y=%0))"),
            "m2 m0 m1 m5 m3 m4");
  EXPECT_EQ(origins_of(R"(%0: float32[2,3] = aten::roll(self=%m, shifts=[1], dims=int[])
    return (y=%0))"),
            "m5 m0 m1 m2 m3 m4");
  EXPECT_EQ(origins_of(R"(%0: float32[2,3] = aten::flip(self=%m, dims=[1])
    return (y=%0))"),
            "m2 m1 m0 m5 m4 m3");
  EXPECT_EQ(origins_of(R"(%0: float32[2,4] = aten::repeat(self=%x, repeats=[2, 2])
    return (y=%0))"),
            "x0 x1 x0 x1 x0 x1 x0 x1");
  EXPECT_EQ(origins_of(R"(%0: float32[2,3] = aten::constant_pad_nd(self=%m, pad=[-1, 1], value=0.0)
    return (y=%0))"),
            "m1 m2 - m4 m5 -");
}

TEST(Origins, ConstantIndices) {
  EXPECT_EQ(origins_of(R"(%c = constant int64[2] [5, -6]
    %0: float32[2] = aten::index_select(self=%h, dim=0, index=%c)
    return (y=%0))"),
            "h5 h0");
  EXPECT_EQ(origins_of(R"(%c = constant int64[2] [2, 0]
    %0: float32[2,2] = aten::index.Tensor(self=%m, indices=[None, %c])
    return (y=%0))"),
            "m2 m0 m5 m3");
  EXPECT_EQ(origins_of(R"(%c = constant int64[] [-1]
    %0: float32[2,3] = aten::index_put(self=%m, indices=[None, %c], values=%x, accumulate=False)
    return (y=%0))"),
            "m0 m1 x0 m3 m4 x1");
  EXPECT_EQ(origins_of(R"(%c = constant bool[6] [True, False, False, False, False, True]
    %o: float32[6] = aten::roll(self=%h, shifts=[1], dims=[0])
    %0: float32[6] = aten::where.self(condition=%c, self=%h, other=%o)
    return (y=%0))"),
            "h0 h0 h1 h2 h3 h5");
}

TEST(Origins, WhatIsComputedIsItsOwn) {
  EXPECT_EQ(origins_of(R"(%0: float32[2] = aten::neg(self=%x)
    return (y=%0))"),
            "00 01");
  EXPECT_EQ(origins_of(R"(%0: float32[6] = aten::index_put(self=%h, indices=[%i], values=%x, accumulate=False)
    %1: float32[2] = aten::slice.Tensor(self=%0, dim=0, start=0, end=2, step=1)
    return (y=%1))"),
            "00 01")
      << "an index that is not constant";
  EXPECT_EQ(origins_of(R"(%0: float64[2] = aten::_to_copy(self=%x, dtype=float64)
    return (y=%0))"),
            "00 01")
      << "another dtype";
  EXPECT_EQ(origins_of(R"(%c = constant int64[] [1]
    %0: float32[2,3] = aten::index_put(self=%m, indices=[None, %c], values=%x, accumulate=True)
    return (y=%0))"),
            "00 01 02 03 04 05")
      << "added, not written";
}

}  // namespace
}  // namespace leapp::graph
