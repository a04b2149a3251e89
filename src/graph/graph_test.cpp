// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gtest/gtest.h>

#include <chrono>

#include "graph/passes/dead_code.h"
#include "graph/verify.h"

namespace leapp::graph {
namespace {

const TensorType kPair{DType::kFloat32, {2}};

Constant zeros(Shape shape) {
  Constant constant{{DType::kFloat32, std::move(shape)}, nullptr};
  constant.data =
      std::shared_ptr<const void>(new float[64](), [](const void* p) { delete[] static_cast<const float*>(p); });
  return constant;
}

Node* append(Graph& graph, std::string op, std::vector<Attribute> values) {
  NodeSpec spec;
  spec.op = std::move(op);
  for (Attribute& value : values)
    spec.arguments.push_back({"a" + std::to_string(spec.arguments.size()), std::move(value)});
  spec.results = {kPair};
  return graph.append(std::move(spec));
}

TEST(Graph, NamesAreUniqueAndStable) {
  Graph graph("g");
  EXPECT_EQ(graph.add_constant(zeros({2}), "w")->name(), "w");
  EXPECT_EQ(graph.add_constant(zeros({2}), "w")->name(), "w_1");
  EXPECT_EQ(graph.add_constant(zeros({2}))->name(), "constant_0");
  EXPECT_EQ(graph.add_constant(zeros({2}))->name(), "constant_1");
  EXPECT_EQ(append(graph, "aten::a", {})->result()->name(), "0");
  EXPECT_EQ(append(graph, "aten::a", {})->result()->name(), "1");
  Value* named = graph.find("w");
  Value* input = graph.add_input("w", kPair);
  EXPECT_EQ(input->name(), "w");
  EXPECT_EQ(named->name(), "w_2") << "a port's name comes first";
  EXPECT_EQ(graph.find("w"), input);
  EXPECT_EQ(graph.find("nobody"), nullptr);
  graph.rename(named, "v");
  EXPECT_EQ(graph.find("v"), named);
  EXPECT_EQ(graph.find("w_2"), nullptr);
}

TEST(Graph, UsersFollowEveryChange) {
  Graph graph;
  Value* x = graph.add_input("x", kPair);
  Value* y = graph.add_input("y", kPair);
  Node* twice = append(graph, "aten::f", {x, x, std::vector<Value*>{x, nullptr, y}});
  Node* once = append(graph, "aten::g", {x});
  graph.add_output("o", x);
  graph.add_output("p", once->result());
  EXPECT_EQ(x->users().size(), 4U);
  EXPECT_EQ(twice->inputs(), (std::vector<Value*>{x, x, x, y}));

  graph.replace_all_uses(x, y);
  EXPECT_TRUE(x->unused());
  EXPECT_EQ(y->users().size(), 5U);
  EXPECT_TRUE(y->is_output());
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).message();

  graph.set_argument(twice, 2, std::monostate());
  EXPECT_EQ(y->users().size(), 3U);
  graph.set_argument(twice, 0, x);
  EXPECT_EQ(x->users(), (std::vector<Node*>{twice}));
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).message();

  graph.erase(twice);
  EXPECT_TRUE(x->unused());
  EXPECT_EQ(y->users(), (std::vector<Node*>{once}));
  graph.erase(x);
  EXPECT_EQ(graph.inputs().size(), 1U);
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).message();
}

TEST(Graph, SetOutputMovesTheUse) {
  Graph graph;
  Value* x = graph.add_input("x", kPair);
  Value* y = graph.add_input("y", kPair);
  graph.add_output("o", x);
  graph.add_output("p", x);
  graph.set_output(0, y);
  EXPECT_TRUE(x->is_output());
  graph.set_output(1, y);
  EXPECT_FALSE(x->is_output());
}

TEST(Graph, InsertBeforeKeepsTheOrder) {
  Graph graph;
  Value* x = graph.add_input("x", kPair);
  Node* last = append(graph, "aten::last", {x});
  NodeSpec spec;
  spec.op = "aten::first";
  spec.arguments = {{"self", x}};
  spec.results = {kPair};
  Node* first = graph.insert_before(last, std::move(spec));
  graph.set_argument(last, 0, first->result());
  EXPECT_EQ(graph.nodes().front().get(), first);
  EXPECT_TRUE(verify(graph).ok());
}

TEST(Graph, SurvivesAMove) {
  Graph graph("g");
  Value* x = graph.add_input("x", kPair);
  Node* node = append(graph, "aten::f", {x});
  Graph moved = std::move(graph);
  moved.erase(node);
  moved.erase(x);
  EXPECT_TRUE(moved.nodes().empty());
  EXPECT_TRUE(moved.inputs().empty());
}

TEST(Graph, ConstantsCompareByContent) {
  EXPECT_TRUE(zeros({2, 3}).same_content(zeros({2, 3})));
  EXPECT_FALSE(zeros({2, 3}).same_content(zeros({3, 2})));
  EXPECT_EQ(zeros({2, 3}).byte_size(), 24U);
  EXPECT_EQ((Constant{{DType::kFloat32, {0, 3}}, nullptr}.bytes().size()), 0U);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({INT64_MAX, INT64_MAX, 0}), 0);
}

TEST(Graph, ManyUsersOfOneConstantStayCheap) {
  constexpr int kNodes = 100'000;
  Graph graph;
  Value* x = graph.add_input("x", kPair);
  Value* w = graph.add_constant(zeros({2}), "w");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kNodes; ++i) append(graph, "aten::add", {x, w});
  // From the front, then the rest from the back: neither order may be the slow one.
  for (int i = 0; i < kNodes / 2; ++i) graph.erase(graph.nodes().front().get());
  EXPECT_EQ(w->users().size(), static_cast<std::size_t>(kNodes / 2));
  eliminate_dead_code(graph);
  EXPECT_TRUE(graph.nodes().empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "quadratic?";
}

}  // namespace
}  // namespace leapp::graph
