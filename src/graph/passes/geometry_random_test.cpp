// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Random geometries, before and after the pass, on numbers.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "graph/passes/geometry.h"
#include "graph/passes/strided.h"
#include "graph/passes/view_interpreter.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace leapp::graph {
namespace {

using Kind = ViewStep::Kind;
using testing::count_nodes;
using testing::interpret;

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t roll(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(int n) { return roll(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

Shape random_shape(Dice& dice, std::int64_t max_rank = 4) {
  Shape shape(static_cast<std::size_t>(dice.roll(0, max_rank)));
  for (std::int64_t& extent : shape) extent = dice.one_in(40) ? 0 : dice.one_in(5) ? 1 : dice.roll(2, 5);
  return shape;
}

Shape random_factors(Dice& dice, std::int64_t count) {
  Shape shape;
  while (count > 1) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 2; d <= count; ++d) {
      if (count % d == 0) divisors.push_back(d);
    }
    shape.push_back(divisors[static_cast<std::size_t>(dice.roll(0, std::ssize(divisors) - 1))]);
    count /= shape.back();
    if (dice.one_in(6)) shape.push_back(1);
  }
  return shape;
}

ViewStep random_step(Dice& dice, const Strided& view, bool may_expand) {
  ViewStep step;
  const std::int64_t rank = std::ssize(view.size);
  step.kind = static_cast<Kind>(dice.roll(0, 5));
  if (rank == 0 && step.kind != Kind::kExpand) step.kind = Kind::kReshape;
  if (step.kind == Kind::kExpand && !may_expand) step.kind = Kind::kReshape;
  if (step.kind == Kind::kReshape)
    step.list = element_count(view.size) == 0 ? view.size : random_factors(dice, element_count(view.size));
  if (step.kind == Kind::kPermute) {
    for (std::int64_t i = 0; i < rank; ++i) step.list.insert(step.list.begin() + dice.roll(0, i), i);
  }
  if (step.kind == Kind::kExpand) {
    step.list = view.size;
    for (std::int64_t& extent : step.list) extent = extent == 1 && dice.one_in(2) ? 3 : extent;
    if (dice.one_in(2)) step.list.insert(step.list.begin(), 2);
  }
  if (step.kind == Kind::kSelect || step.kind == Kind::kSlice || step.kind == Kind::kDiagonal) {
    step.dim = dice.roll(0, rank - 1);
    const std::int64_t extent = view.size[static_cast<std::size_t>(step.dim)];
    step.start = dice.roll(0, std::max<std::int64_t>(extent - 1, 0));
    step.end = dice.one_in(20) ? step.start : dice.roll(step.start, extent);
    step.step = dice.roll(1, 3);
  }
  if (step.kind == Kind::kDiagonal) {
    step.dim2 = dice.roll(0, rank - 1);
    step.start = dice.roll(-2, 2);
  }
  return step;
}

Strided random_view(Dice& dice, const Shape& root, bool may_expand, int max_steps) {
  Strided view = row_major(root);
  for (int left = static_cast<int>(dice.roll(0, max_steps)); left > 0; --left) {
    if (const auto next = apply(view, random_step(dice, view, may_expand)); next && element_count(next->size) <= 500)
      view = *next;
  }
  // What does not matter should not: strides of extents of 1.
  for (std::size_t i = 0; i < view.size.size(); ++i) {
    if (view.size[i] == 1 && dice.one_in(2)) view.stride[i] = dice.roll(0, 9);
  }
  return view;
}

Strided random_geometry(Dice& dice, std::int64_t elements) {
  Strided view;
  view.offset = dice.roll(0, std::max<std::int64_t>(elements - 1, 0));
  std::int64_t room = elements - 1 - view.offset;
  for (std::int64_t rank = dice.roll(0, 3); rank > 0; --rank) {
    const std::int64_t stride = dice.roll(0, 8);
    const std::int64_t fits = stride == 0 ? 3 : std::max<std::int64_t>(room, 0) / stride + 1;
    const std::int64_t size = elements == 0 || dice.one_in(30) ? 0 : dice.roll(1, std::min<std::int64_t>(fits, 6));
    if (size > 1) room -= (size - 1) * stride;
    view.size.push_back(size);
    view.stride.push_back(stride);
  }
  if (elements == 0 && element_count(view.size) > 0) {
    view.size.push_back(0);
    view.stride.push_back(1);
  }
  return view;
}

class Builder {
 public:
  Builder(Dice& dice, Shape shape) : dice_(dice), shape_(std::move(shape)) {
    Value* input = graph_.add_input("x", {DType::kInt64, shape_});
    count_ = element_count(shape_);
    NodeSpec spec;
    spec.op = "aten::reshape";
    spec.arguments = {{"self", input}, {"shape", Shape{count_}}};
    spec.results = {{DType::kInt64, {count_}}};
    root_ = dice_.one_in(4) ? graph_.add_input("flat", {DType::kInt64, {count_}})
                            : graph_.append(std::move(spec))->result();
  }

  void read(const Strided& view) {
    NodeSpec spec;
    spec.op = "aten::as_strided";
    spec.arguments = {{"self", root_}, {"size", view.size}, {"stride", view.stride}, {"storage_offset", view.offset}};
    spec.results = {{DType::kInt64, view.size}};
    Node* node = graph_.append(std::move(spec));
    graph_.add_output("y" + std::to_string(graph_.outputs().size()), node->result());
  }

  void write(const Strided& view) {
    Value* source = graph_.add_input("s" + std::to_string(graph_.inputs().size()), {DType::kInt64, view.size});
    NodeSpec spec;
    spec.op = "aten::as_strided_scatter";
    spec.arguments = {{"self", root_},
                      {"src", source},
                      {"size", view.size},
                      {"stride", view.stride},
                      {"storage_offset", view.offset}};
    spec.results = {{DType::kInt64, {count_}}};
    root_ = graph_.append(std::move(spec))->result();
    if (dice_.one_in(3)) graph_.add_output("r" + std::to_string(graph_.outputs().size()), root_);
  }

  Graph take() { return std::move(graph_); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  Dice& dice_;
  Graph graph_;
  Shape shape_;
  std::int64_t count_ = 0;
  Value* root_ = nullptr;
};

// Runs the pass and compares; returns how many geometries are left.
std::size_t check(Graph graph) {
  const std::string before_text = print(graph);
  const Status legal = verify(graph);
  EXPECT_TRUE(legal.ok()) << legal.message() << before_text;
  const auto before = interpret(graph);
  restore_views(graph);
  const Status still = verify(graph);
  EXPECT_TRUE(still.ok()) << still.message() << before_text << print(graph);
  EXPECT_EQ(before, interpret(graph)) << before_text << print(graph);
  EXPECT_FALSE(restore_views(graph)) << "a second run changed something:\n" << before_text << print(graph);
  return count_nodes(graph, "aten::as_strided") + count_nodes(graph, "aten::as_strided_scatter");
}

TEST(GeometryRandom, ViewChains) {
  Dice dice(1);
  std::size_t made = 0;
  std::size_t left = 0;
  for (int round = 0; round < 6000 && !HasFailure(); ++round) {
    Builder builder(dice, random_shape(dice));
    for (std::int64_t i = dice.roll(1, 4); i > 0; --i, ++made) {
      if (dice.one_in(2)) {
        builder.write(random_view(dice, builder.shape(), false, 4));
      } else {
        builder.read(random_view(dice, builder.shape(), true, 4));
      }
    }
    builder.read(row_major(builder.shape()));
    left += check(builder.take());
  }
  RecordProperty("left", static_cast<int>(left));
  EXPECT_LT(left * 100, made) << left << " of " << made << " stay as_strided";
}

TEST(GeometryRandom, OneOrTwoStepsLeaveNothing) {
  Dice dice(2);
  for (int round = 0; round < 4000 && !HasFailure(); ++round) {
    Builder builder(dice, random_shape(dice));
    if (dice.one_in(2)) {
      builder.write(random_view(dice, builder.shape(), false, 2));
      builder.read(row_major(builder.shape()));
    } else {
      builder.read(random_view(dice, builder.shape(), true, 2));
    }
    Graph graph = builder.take();
    const std::string text = print(graph);
    EXPECT_EQ(check(std::move(graph)), 0U) << text;
  }
}

TEST(GeometryRandom, AnyGeometry) {
  Dice dice(3);
  for (int round = 0; round < 6000 && !HasFailure(); ++round) {
    Builder builder(dice, random_shape(dice));
    for (std::int64_t i = dice.roll(1, 4); i > 0; --i) {
      const Strided view = random_geometry(dice, builder.count());
      // With duplicates the order of writes is nobody's promise; the pass must then leave the node alone, which the
      // comparison sees as well.
      if (dice.one_in(2)) {
        builder.write(view);
      } else {
        builder.read(view);
      }
    }
    builder.read(row_major(builder.shape()));
    check(builder.take());
  }
}

TEST(GeometryRandom, LongChainsStayCheap) {
  Dice dice(4);
  Builder builder(dice, {4, 6, 5});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3000; ++i) {
    builder.write(random_view(dice, builder.shape(), false, 3));
    builder.read(random_view(dice, builder.shape(), true, 3));
  }
  Graph graph = builder.take();
  restore_views(graph);
  EXPECT_TRUE(verify(graph).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "quadratic?";
}

}  // namespace
}  // namespace leapp::graph
