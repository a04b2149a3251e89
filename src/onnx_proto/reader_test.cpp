// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "onnx_proto/merge.h"
#include "onnx_proto/writer.h"

namespace leapp::onnx {
namespace {

Encoded view(const std::string& text) { return std::as_bytes(std::span(text)); }

ModelProto example() {
  ModelProto model;
  model.ir_version = 8;
  model.opset_imports = {{"ai.onnx", 18}, {"ai.onnx.ml", 3}};
  model.metadata_props = {{"k", "v"}};
  model.graph.name = "g";
  model.graph.inputs = {{"x", 1, {2, 3}}};
  model.graph.outputs = {{"y", 7, {}}};
  model.graph.value_infos = {{"z", 1, {6}}};
  model.graph.nodes = {{{"x", ""}, {"z"}, "n", "Op", "", "", {}}, {{"z"}, {"y"}, "", "Op", "", "", {}}};
  TensorProto weights;
  weights.name = "w";
  weights.data_type = 1;
  weights.dims = {2048};
  weights.raw_data = Bytes::copy_of(std::vector<std::byte>(8192, std::byte{7}));
  model.graph.initializers = {weights};
  return model;
}

TEST(Reader, FindsThePartsOfAModel) {
  const std::string bytes = write_model(example()).text();
  const auto read = read_model(view(bytes));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const ModelView& model = read.value();
  EXPECT_EQ(model.ir_version, 8);
  ASSERT_EQ(model.opset_imports.size(), 2U);
  EXPECT_EQ(model.opset_imports[0].domain, "");
  EXPECT_EQ(model.opset_imports[1].version, 3);
  EXPECT_EQ(model.metadata_props.at(0).second, "v");
  EXPECT_EQ(model.graph.nodes.size(), 2U);
  EXPECT_EQ(model.graph.inputs.at(0).name, "x");
  EXPECT_EQ(model.graph.inputs.at(0).dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(model.graph.outputs.at(0).elem_type, 7);
  EXPECT_TRUE(model.graph.outputs.at(0).dims->empty());
  EXPECT_EQ(model.graph.initializers.at(0).name, "w");
  EXPECT_EQ(model.graph.value_infos.at(0).name, "z");
}

TEST(Reader, WhatIsNoModelIsAnError) {
  const std::string bytes = write_model(example()).text();
  for (const std::string& text : {std::string(), std::string("\x08\x08"), bytes + bytes, std::string("hello"),
                                  bytes.substr(0, 60), std::string("\x3a\x05\x08")}) {
    const auto read = read_model(view(text));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.status().code(), StatusCode::kDataLoss);
    EXPECT_TRUE(read.status().message().starts_with("not an ONNX model: ")) << read.status().message();
  }
}

TEST(Merge, RenamesAndSharesLongStretches) {
  const std::string bytes = write_model(example()).text();
  const ModelView model = read_model(view(bytes)).value();
  Merger merger;
  ASSERT_TRUE(merger.add(model, {.prefix = "a/", .values = {{"x", "in"}}, .functions = {}}, {}).ok());
  ASSERT_TRUE(merger.add(model, {.prefix = "b/", .values = {{"x", "a/y"}}, .functions = {}}, {"w"}).ok());
  const Pieces merged = std::move(merger).take("test");
  const char* weights = reinterpret_cast<const char*>(model.graph.initializers[0].bytes.data());
  bool shared = false;
  for (const Bytes& piece : merged.pieces()) {
    const char* data = reinterpret_cast<const char*>(piece.view.data());
    shared = shared || (data >= weights && data < weights + model.graph.initializers[0].bytes.size());
  }
  EXPECT_TRUE(shared);
  const std::string text = merged.text();
  const ModelView both = read_model(view(text)).value();
  EXPECT_EQ(both.graph.nodes.size(), 4U);
  ASSERT_EQ(both.graph.initializers.size(), 1U);
  EXPECT_EQ(both.graph.initializers[0].name, "a/w");
  EXPECT_EQ(both.graph.value_infos.at(1).name, "b/z");
  EXPECT_EQ(both.metadata_props.at(1).first, "b/k");
  const auto node = [&](std::size_t i) {
    return std::string(reinterpret_cast<const char*>(both.graph.nodes[i].data()), both.graph.nodes[i].size());
  };
  EXPECT_NE(node(0).find("a/n"), std::string::npos);
  EXPECT_NE(node(1).find("a/Op(y)"), std::string::npos);
  EXPECT_NE(node(2).find("a/y"), std::string::npos);
  EXPECT_NE(node(3).find("b/z"), std::string::npos);
}

TEST(Merge, OperatorSetsMustAgree) {
  ModelProto other = example();
  const std::string first = write_model(other).text();
  other.opset_imports = {{"", 18}, {"ai.onnx.ml", 4}};
  const std::string second = write_model(other).text();
  other.opset_imports = {{"", 18}, {"custom", 1}};
  const std::string third = write_model(other).text();
  Merger merger;
  ASSERT_TRUE(merger.add(read_model(view(first)).value(), {}, {}).ok());
  ASSERT_TRUE(merger.add(read_model(view(third)).value(), {}, {}).ok());
  const Status differs = merger.add(read_model(view(second)).value(), {}, {});
  EXPECT_EQ(differs.message(), "expected version 3 of the operators of domain \"ai.onnx.ml\", found 4");
}

}  // namespace
}  // namespace leapp::onnx
