// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/writer.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include <protozero/pbf_message.hpp>

#include "onnx_proto/fields.h"

namespace leapp::onnx {
namespace {

TensorProto tensor_of(std::string name, const std::vector<float>& values) {
  TensorProto tensor;
  tensor.name = std::move(name);
  tensor.data_type = *data_type_of(DType::kFloat32);
  tensor.dims = {static_cast<std::int64_t>(values.size())};
  tensor.raw_data = Bytes::copy_of(std::as_bytes(std::span(values)));
  return tensor;
}

/// The one nested message of that field.
template <typename Field>
protozero::data_view view_of(protozero::data_view bytes, Field field) {
  protozero::pbf_message<Field> message(bytes);
  EXPECT_TRUE(message.next(field));
  return message.get_view();
}

TEST(Writer, AModelReadsBackFieldByField) {
  ModelProto model;
  model.ir_version = 8;
  model.opset_imports = {{"", 18}};
  model.producer_name = "p";
  model.metadata_props = {{"k", "v"}};
  model.graph.name = "g";
  model.graph.inputs = {{"x", 1, {2, 0}}};
  model.graph.nodes = {{{"x", ""}, {"y"}, "n", "Op", "", "a.py:1", {{"axis", std::int64_t{-1}}}}};
  const std::string bytes = write_model(model).text();

  std::map<std::uint32_t, std::string> found;
  protozero::pbf_message<ModelField> message(bytes);
  while (message.next()) {
    if (message.tag() == ModelField::kIrVersion) {
      EXPECT_EQ(message.get_int64(), 8);
    } else {
      found[static_cast<std::uint32_t>(message.tag())] = message.get_string();
    }
  }
  const std::string& graph = found.at(static_cast<std::uint32_t>(ModelField::kGraph));
  protozero::pbf_message<NodeField> node(view_of(graph, GraphField::kNode));
  std::vector<std::string> inputs;
  while (node.next()) {
    if (node.tag() == NodeField::kInput) {
      inputs.push_back(node.get_string());
    } else if (node.tag() == NodeField::kDocString) {
      EXPECT_EQ(node.get_string(), "a.py:1");
    } else if (node.tag() == NodeField::kAttribute) {
      protozero::pbf_message<AttributeField> attribute(node.get_view());
      ASSERT_TRUE(attribute.next(AttributeField::kInt));
      EXPECT_EQ(attribute.get_int64(), -1);
    } else {
      node.skip();
    }
  }
  EXPECT_EQ(inputs, (std::vector<std::string>{"x", ""})) << "an input that is left out keeps its place";
}

TEST(Writer, ABodyIsAGraphInsideAnAttribute) {
  auto body = std::make_shared<GraphProto>();
  body->name = "body";
  ModelProto model;
  model.graph.nodes = {{{}, {"y"}, "n", "Loop", "", "", {{"body", std::shared_ptr<const GraphProto>(body)}}}};
  const std::string bytes = write_model(model).text();
  const auto node = view_of(view_of(bytes, ModelField::kGraph), GraphField::kNode);
  const auto attribute = view_of(node, NodeField::kAttribute);
  EXPECT_EQ(std::string(view_of(view_of(attribute, AttributeField::kGraph), GraphField::kName)), "body");
  protozero::pbf_message<AttributeField> type(attribute);
  ASSERT_TRUE(type.next(AttributeField::kType));
  EXPECT_EQ(type.get_enum(), static_cast<std::int32_t>(AttributeType::kGraph));
}

TEST(Writer, BytesOfTensorsAreSharedNotCopied) {
  ModelProto model;
  const std::vector<float> values(1000, 1.5F);
  model.graph.initializers = {tensor_of("w", values)};
  const Pieces pieces = write_model(model);
  bool found = false;
  for (const Bytes& piece : pieces.pieces()) {
    found = found || piece.view.data() == model.graph.initializers[0].raw_data.view.data();
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(pieces.text().size(), pieces.size());
}

TEST(Writer, ExternalTensorsHaveAPlaceInsteadOfBytes) {
  ModelProto model;
  model.graph.initializers = {tensor_of("w", {1, 2, 3})};
  model.graph.initializers[0].external = ExternalData{"m.onnx.data", 4096, 12};
  const std::string bytes = write_model(model).text();
  EXPECT_NE(bytes.find("m.onnx.data"), std::string::npos);
  EXPECT_NE(bytes.find("4096"), std::string::npos);
  const auto graph = view_of(bytes, ModelField::kGraph);
  protozero::pbf_message<TensorField> tensor(view_of(graph, GraphField::kInitializer));
  EXPECT_FALSE(tensor.next(TensorField::kRawData));
}

TEST(DataTypes, ThereAndBack) {
  for (int i = 0; i <= static_cast<int>(DType::kFloat8E5M2); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::kComplex32) continue;
    EXPECT_EQ(dtype_of(data_type_of(dtype).value()), dtype);
  }
  EXPECT_FALSE(data_type_of(DType::kComplex32));
  EXPECT_FALSE(dtype_of(8)) << "strings";
}

}  // namespace
}  // namespace leapp::onnx
