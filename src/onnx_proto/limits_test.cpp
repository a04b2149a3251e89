// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/limits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "onnx_proto/model_testing.h"
#include "onnx_proto/writer.h"

namespace leapp::onnx {
namespace {

Status check(GraphProto graph, const ModelLimits& limits = {}) {
  ModelProto model;
  model.ir_version = 8;
  model.opset_imports = {{"", 18}};
  model.graph = std::move(graph);
  const std::string bytes = write_model(model).text();
  return check_limits(std::as_bytes(std::span(bytes)), limits);
}

/// A loop whose body hands the condition on, or has another one.
GraphProto loop(const std::vector<std::int64_t>& rounds, const NodeProto& condition, int operators = 1) {
  auto body = std::make_shared<GraphProto>();
  body->inputs = {{"i", kInt64, {}}, {"go_on", 9, {}}};
  body->outputs = {{"next", 9, {}}};
  body->nodes.push_back(condition);
  for (int i = 1; i < operators; ++i) body->nodes.push_back(node("Abs", {"i"}, "a" + std::to_string(i)));
  NodeProto made = node("Loop", {rounds.empty() ? "" : "rounds", ""}, "y");
  made.attributes.push_back({"body", std::shared_ptr<const GraphProto>(body)});
  GraphProto graph;
  graph.name = "g";
  if (!rounds.empty()) graph.initializers.push_back(numbers("rounds", rounds));
  graph.nodes.push_back(made);
  return graph;
}

TEST(Limits, ALoopWithMoreRoundsThanAnybodyWaitsFor) {
  const NodeProto handed_on = node("Identity", {"go_on"}, "next");
  EXPECT_TRUE(check(loop({1000}, handed_on)).ok());
  const Status refused = check(loop({std::int64_t{1} << 62}, handed_on));
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "node \"Loop_y\" (Loop): expected at most 10000000 runs of operators in one run of the model, found more "
            "than can be counted: it does not end");
  EXPECT_FALSE(check(loop({}, handed_on)).ok());  // no count, and a condition that nothing changes
}

TEST(Limits, ALoopThatItsConditionEndsIsForTheWatchdog) {
  EXPECT_TRUE(check(loop({std::int64_t{1} << 62}, node("Not", {"go_on"}, "next"))).ok());
  EXPECT_TRUE(check(loop({}, node("Not", {"go_on"}, "next"))).ok());
}

TEST(Limits, RoundsOfLoopsInLoopsMultiply) {
  const auto nested = [](std::int64_t rounds) {
    GraphProto graph = loop({rounds}, node("Identity", {"go_on"}, "next"));
    auto outer = std::make_shared<GraphProto>(graph);
    outer->inputs = {{"j", kInt64, {}}, {"on", 9, {}}};
    outer->outputs = {{"still", 9, {}}};
    outer->nodes.push_back(node("Identity", {"on"}, "still"));
    NodeProto made = node("Loop", {"rounds", ""}, "z");
    made.attributes.push_back({"body", std::shared_ptr<const GraphProto>(outer)});
    graph.nodes = {made};
    return graph;
  };
  EXPECT_TRUE(check(nested(100)).ok());
  EXPECT_FALSE(check(nested(100'000)).ok());
}

TEST(Limits, SizesThatAreConstants) {
  const ModelLimits limits{.tensor_bytes = std::uint64_t{1} << 30U};
  const std::int64_t large = std::int64_t{1} << 31U;
  const auto graph = [&](const std::string& op, std::vector<std::string> inputs, std::int64_t size) {
    GraphProto made;
    made.name = "g";
    made.initializers = {numbers("n", {size}), numbers("zero", {0}), numbers("one", {1})};
    made.nodes = {node("Mul", {"n", "one"}, "m"), node(op, std::move(inputs), "y")};
    return made;
  };
  for (const auto& [op, inputs] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{{"ConstantOfShape", {"n"}},
                                                                     {"ConstantOfShape", {"m"}},
                                                                     {"Expand", {"x", "n"}},
                                                                     {"Tile", {"x", "n"}},
                                                                     {"Range", {"zero", "n", "one"}},
                                                                     {"OneHot", {"x", "n", "v"}},
                                                                     {"Resize", {"x", "", "", "m"}}}) {
    EXPECT_TRUE(check(graph(op, inputs, 1000), limits).ok()) << op;
    const Status refused = check(graph(op, inputs, large), limits);
    EXPECT_NE(refused.message().find("makes a tensor of "), std::string::npos) << op << ": " << refused.message();
    EXPECT_NE(refused.message().find("memory_limit is 1.1 GB"), std::string::npos) << op;
  }
}

/// x[4] through `nodes` to d39.
GraphProto grown(std::vector<NodeProto> nodes) {
  GraphProto graph;
  graph.name = "g";
  graph.inputs = {{"x", 1, {4}}};
  graph.initializers = {numbers("column", {-1, 1}), numbers("row", {1, -1}), numbers("flat", {-1}),
                        numbers("two", {2})};
  graph.nodes = std::move(nodes);
  return graph;
}

TEST(Limits, ATensorThatGrowsFromStepToStep) {
  const ModelLimits limits{.tensor_bytes = std::uint64_t{1} << 30U};
  std::vector<NodeProto> joined;
  std::vector<NodeProto> tiled;
  std::vector<NodeProto> squared;
  std::vector<NodeProto> multiplied;
  for (int i = 0; i < 40; ++i) {
    const std::string from = i == 0 ? "x" : "d" + std::to_string(i - 1);
    const std::string name = std::to_string(i);
    joined.push_back(node("Concat", {from, from}, "d" + name));
    tiled.push_back(node("Relu", {from}, "a" + name));
    tiled.push_back(node("Tile", {"a" + name, "two"}, "d" + name));
    for (auto* nodes : {&squared, &multiplied}) {
      nodes->push_back(node("Reshape", {from, "column"}, "c" + name));
      nodes->push_back(node("Reshape", {from, "row"}, "r" + name));
      nodes->push_back(node(nodes == &squared ? "Mul" : "MatMul", {"c" + name, "r" + name}, "m" + name));
      nodes->push_back(node("Reshape", {"m" + name, "flat"}, "d" + name));
    }
  }
  for (const auto& nodes : {joined, tiled, squared, multiplied}) {
    const Status refused = check(grown(nodes), limits);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << nodes.back().op_type;
    EXPECT_NE(refused.message().find("makes a tensor of "), std::string::npos) << refused.message();
    EXPECT_TRUE(check(grown({nodes.begin(), nodes.begin() + 8}), limits).ok()) << nodes.back().op_type;
  }
}

TEST(Limits, AScanRunsAsOftenAsWhatItGoesThroughIsLong) {
  const auto scan = [](std::int64_t length) {
    auto body = std::make_shared<GraphProto>();
    body->inputs = {{"s", 1, {}}, {"e", 1, {}}};
    body->outputs = {{"t", 1, {}}};
    body->nodes = {node("Add", {"s", "e"}, "t")};
    NodeProto made = node("Scan", {"x", "long"}, "y");
    made.attributes.push_back({"body", std::shared_ptr<const GraphProto>(body)});
    made.attributes.push_back({"num_scan_inputs", std::int64_t{1}});
    GraphProto graph = grown({node("ConstantOfShape", {"n"}, "long"), made});
    graph.initializers.push_back(numbers("n", {length}));
    return graph;
  };
  EXPECT_TRUE(check(scan(1000)).ok());
  EXPECT_NE(check(scan(100'000'000)).message().find("(Scan): expected at most 10000000 runs"), std::string::npos);
}

TEST(Limits, ATensorWithoutElementsIsWalkedAllTheSame) {
  GraphProto graph;
  graph.name = "g";
  graph.initializers = {numbers("size", {1 << 20, 1 << 20, 0})};
  graph.nodes = {node("ConstantOfShape", {"size"}, "y")};
  const Status refused = check(graph);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("a tensor without elements, expected other extents of at most 268435456"),
            std::string::npos)
      << refused.message();
  graph.initializers = {numbers("size", {1 << 20, 4, 0})};
  EXPECT_TRUE(check(graph).ok());
}

TEST(Limits, OneHotWithoutADepth) {
  GraphProto graph;
  graph.name = "g";
  graph.inputs = {{"x", kInt64, {}}};
  graph.initializers = {numbers("depth", {}), numbers("values", {0, 1})};
  graph.nodes = {node("OneHot", {"x", "depth", "values"}, "y")};
  EXPECT_NE(check(graph).message().find("expected one number as depth, found 0"), std::string::npos);
  graph.initializers[0] = numbers("depth", {3});
  EXPECT_TRUE(check(graph).ok());
}

TEST(Limits, AxesThatAreNoNumbers) {
  const std::vector<float> axes(40, std::numeric_limits<float>::quiet_NaN());
  TensorProto tensor{"axes", 1, {static_cast<std::int64_t>(axes.size())}, {}, {}};
  tensor.raw_data = Bytes::copy_of(std::as_bytes(std::span(axes)));
  GraphProto graph;
  graph.name = "g";
  graph.inputs = {{"x", 1, {2, 3}}};
  graph.initializers.push_back(tensor);
  graph.nodes.push_back(node("Unsqueeze", {"x", "axes"}, "y"));
  EXPECT_TRUE(check(graph).ok());  // an engine says what is wrong with it
}

TEST(Limits, TheSameFileBesideItAgainAndAgain) {
  GraphProto graph;
  graph.name = "g";
  for (int i = 0; i < 10; ++i) {
    TensorProto tensor{"w" + std::to_string(i), kInt64, {1 << 20}, {}, {}};
    tensor.external = ExternalData{"weights.bin", 0, 8 << 20};
    graph.initializers.push_back(std::move(tensor));
  }
  EXPECT_TRUE(check(graph, {.tensor_bytes = 80 << 20}).ok());
  const Status refused = check(graph, {.tensor_bytes = 70 << 20});
  EXPECT_NE(refused.message().find("sparse and external tensors of 75.5 MB"), std::string::npos) << refused.message();
}

TEST(Limits, AValueInABodyIsNotWhatHasItsNameAround) {
  auto body = std::make_shared<GraphProto>();
  body->nodes = {node("NonZero", {"x"}, "size"), node("ConstantOfShape", {"size"}, "r")};
  body->outputs = {{"r", 1, {}}};
  GraphProto graph;
  graph.name = "g";
  graph.initializers = {numbers("size", {1 << 30})};
  NodeProto branch = node("If", {"x"}, "y");
  branch.attributes.push_back({"then_branch", std::shared_ptr<const GraphProto>(body)});
  graph.nodes = {branch};
  EXPECT_TRUE(check(graph, {.tensor_bytes = 1 << 20}).ok());
}

TEST(Limits, TextsAreShort) {
  GraphProto graph;
  graph.name = "g";
  NodeProto text = node("Constant", {}, "t");
  text.attributes.push_back({"value_strings", std::vector<std::string>{"short", "fifteen letters"}});
  graph.nodes = {text};
  EXPECT_TRUE(check(graph).ok()) << check(graph).message();
  graph.nodes[0].attributes[0].value = std::vector<std::string>{"sixteen letters!"};
  EXPECT_NE(check(graph).message().find("texts of at most 15 bytes in tensors, found 16"), std::string::npos);
  NodeProto cast = node("Cast", {"x"}, "t");
  cast.attributes.push_back({"to", std::int64_t{8}});
  for (const NodeProto& maker : {cast, node("StringConcat", {"x", "x"}, "t")}) {
    graph.nodes = {maker};
    EXPECT_NE(check(graph).message().find("expected no operator that makes texts"), std::string::npos);
  }
}

TEST(Limits, BodiesCostMoreThanTheirOperators) {
  GraphProto graph;
  graph.name = "g";
  const auto body = std::make_shared<const GraphProto>(GraphProto{.name = "b", .nodes = {node("Abs", {"x"}, "o")}});
  for (int i = 0; i < 10; ++i) {
    NodeProto made = node("If", {"c"}, "y" + std::to_string(i));
    made.attributes.push_back({"then_branch", body});
    graph.nodes.push_back(made);
  }
  EXPECT_TRUE(check(graph, {.operators = 180}).ok());
  EXPECT_FALSE(check(graph, {.operators = 179}).ok());
}

TEST(Limits, OperatorsAreCounted) {
  GraphProto graph;
  graph.name = "g";
  for (int i = 0; i < 11; ++i) graph.nodes.push_back(node("Abs", {"x"}, "y" + std::to_string(i)));
  EXPECT_TRUE(check(graph, {.operators = 11}).ok());
  EXPECT_NE(check(graph, {.operators = 10}).message().find("expected at most 10 operators"), std::string::npos);
}

TEST(Limits, GraphsInsideEachOther) {
  GraphProto graph = loop({2}, node("Identity", {"go_on"}, "next"));
  for (int i = 0; i < 70; ++i) {
    NodeProto made = node("If", {"c"}, "y");
    made.attributes.push_back({"then_branch", std::shared_ptr<const GraphProto>(std::make_shared<GraphProto>(graph))});
    GraphProto around;
    around.name = "g";
    around.nodes = {made};
    graph = around;
  }
  EXPECT_EQ(check(graph).code(), StatusCode::kDataLoss);
}

TEST(Limits, WhatIsNoModelIsSaidSo) {
  const std::string bytes = "no model";
  EXPECT_EQ(check_limits(std::as_bytes(std::span(bytes)), {}).code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace leapp::onnx
