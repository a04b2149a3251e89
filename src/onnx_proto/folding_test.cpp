// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/folding.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx_proto/model_testing.h"
#include "onnx_proto/writer.h"

namespace leapp::onnx {
namespace {

constexpr std::int32_t kFloat = 1;

TensorProto weights(const std::string& name, std::vector<std::int64_t> dims) {
  std::size_t count = 1;
  for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
  TensorProto tensor{name, kFloat, std::move(dims), {}, {}};
  const std::vector<float> ones(count, 1.0F);
  tensor.raw_data = Bytes::copy_of(std::as_bytes(std::span(ones)));
  return tensor;
}

bool folds(std::vector<NodeProto> nodes, std::vector<TensorProto> initializers) {
  ModelProto model;
  model.ir_version = 8;
  model.opset_imports = {{"", 18}};
  model.graph.inputs = {{"x", kFloat, {}}};
  model.graph.nodes = std::move(nodes);
  model.graph.initializers = std::move(initializers);
  const std::string bytes = write_model(model).text();
  return folds_cheaply(std::as_bytes(std::span(bytes)), bytes.size());
}

TEST(Folding, WhatHonestModelsHaveIsFolded) {
  EXPECT_TRUE(folds({node("MatMul", {"x", "w"}, "y")}, {weights("w", {64, 64})}));
  EXPECT_TRUE(folds({node("Transpose", {"w"}, "t"), node("MatMul", {"x", "t"}, "y")}, {weights("w", {1024, 512})}));
  EXPECT_TRUE(folds({node("MatMul", {"p", "w"}, "e"), node("Add", {"x", "e"}, "y")},
                    {weights("p", {50, 512}), weights("w", {512, 512})}));
  EXPECT_TRUE(folds({node("Shape", {"x"}, "s"), node("Gather", {"s", "i"}, "d"), node("Unsqueeze", {"d", "i"}, "u"),
                     node("Concat", {"u", "u"}, "c"), node("Reshape", {"x", "c"}, "y")},
                    {numbers("i", {0})}));
  EXPECT_TRUE(folds({node("ConstantOfShape", {"n"}, "c"), node("Add", {"x", "c"}, "y")}, {numbers("n", {1000, 10})}));
}

TEST(Folding, WhatTakesLongOrIsLargeIsLeftToTheRun) {
  EXPECT_FALSE(folds({node("ConstantOfShape", {"n"}, "c"), node("Add", {"x", "c"}, "y")}, {numbers("n", {1 << 28})}));
  EXPECT_FALSE(folds({node("MatMul", {"w", "w"}, "p"), node("Add", {"x", "p"}, "y")}, {weights("w", {512, 512})}));
  EXPECT_FALSE(folds({node("Gemm", {"a", "b"}, "p"), node("Add", {"x", "p"}, "y")},
                     {weights("a", {1, 1}), weights("b", {1, 1})}))
      << "nobody here knows how large that is";
  std::vector<NodeProto> many;
  for (int i = 0; i < 400; ++i)
    many.push_back(node("Neg", {i == 0 ? "w" : "n" + std::to_string(i - 1)}, "n" + std::to_string(i)));
  many.push_back(node("Add", {"x", "n399"}, "y"));
  EXPECT_FALSE(folds(std::move(many), {weights("w", {256, 256})}));
}

TEST(Folding, BodiesSeeTheConstantsAroundThem) {
  auto body = std::make_shared<GraphProto>();
  body->nodes = {node("Gemm", {"a", "a"}, "r")};
  body->outputs = {{"r", kFloat, {}}};
  NodeProto branch = node("If", {"x"}, "y");
  branch.attributes.push_back({"then_branch", std::shared_ptr<const GraphProto>(body)});
  EXPECT_FALSE(folds({branch}, {weights("a", {2, 2})}));
  body->nodes = {node("Gemm", {"x", "a"}, "r")};
  EXPECT_TRUE(folds({branch}, {weights("a", {2, 2})}));
}

TEST(Folding, WhatIsNoModelIsNotFolded) {
  const std::string bytes = "no model";
  EXPECT_FALSE(folds_cheaply(std::as_bytes(std::span(bytes)), bytes.size()));
}

}  // namespace
}  // namespace leapp::onnx
