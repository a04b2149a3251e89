// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/writer.h"

#include <type_traits>
#include <utility>

#include <protozero/pbf_builder.hpp>

#include "onnx_proto/fields.h"

namespace leapp::onnx {
namespace {

template <typename Field>
using Builder = protozero::pbf_builder<Field>;

template <typename Field>
std::string header(Field field, std::size_t length) {
  return field_header(static_cast<std::uint32_t>(field), length);
}

Pieces write_tensor(const TensorProto& tensor) {
  std::string text;
  Builder<TensorField> message(text);
  message.add_packed_int64(TensorField::kDims, tensor.dims.begin(), tensor.dims.end());
  message.add_int32(TensorField::kDataType, tensor.data_type);
  if (!tensor.name.empty()) message.add_string(TensorField::kName, tensor.name);
  if (tensor.external) {
    const ExternalData& external = *tensor.external;
    message.add_message(TensorField::kExternalData, write_pair("location", external.location));
    message.add_message(TensorField::kExternalData, write_pair("offset", std::to_string(external.offset)));
    message.add_message(TensorField::kExternalData, write_pair("length", std::to_string(external.length)));
    message.add_enum(TensorField::kDataLocation, kExternalLocation);
  }
  Pieces pieces;
  if (!tensor.external) text += header(TensorField::kRawData, tensor.raw_data.view.size());
  pieces.append(std::move(text));
  if (!tensor.external) pieces.append(tensor.raw_data);
  return pieces;
}

Pieces write_graph(const GraphProto& graph);

void write_value(Builder<AttributeField>& message, const AttributeValue& value) {
  const auto type = [&](AttributeType kind) {
    message.add_enum(AttributeField::kType, static_cast<std::int32_t>(kind));
  };
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    message.add_int64(AttributeField::kInt, *integer);
    type(AttributeType::kInt);
  } else if (const auto* number = std::get_if<float>(&value)) {
    message.add_float(AttributeField::kFloat, *number);
    type(AttributeType::kFloat);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    message.add_bytes(AttributeField::kString, *text);
    type(AttributeType::kString);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t item : *integers) message.add_int64(AttributeField::kInts, item);
    type(AttributeType::kInts);
  } else if (const auto* numbers = std::get_if<std::vector<float>>(&value)) {
    for (const float item : *numbers) message.add_float(AttributeField::kFloats, item);
    type(AttributeType::kFloats);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *texts) message.add_bytes(AttributeField::kStrings, item);
    type(AttributeType::kStrings);
  } else if (const auto* tensor = std::get_if<TensorProto>(&value)) {
    message.add_message(AttributeField::kTensor, write_tensor(*tensor).text());
    type(AttributeType::kTensor);
  } else {
    message.add_message(AttributeField::kGraph,
                        write_graph(*std::get<std::shared_ptr<const GraphProto>>(value)).text());
    type(AttributeType::kGraph);
  }
}

std::string write_attribute(const AttributeProto& attribute) {
  std::string text;
  Builder<AttributeField> message(text);
  message.add_string(AttributeField::kName, attribute.name);
  write_value(message, attribute.value);
  return text;
}

Pieces write_graph(const GraphProto& graph) {
  std::string text;
  Builder<GraphField> message(text);
  for (const NodeProto& node : graph.nodes) message.add_message(GraphField::kNode, write_node(node));
  message.add_string(GraphField::kName, graph.name);
  for (const ValueInfo& info : graph.inputs) message.add_message(GraphField::kInput, write_value_info(info));
  for (const ValueInfo& info : graph.outputs) message.add_message(GraphField::kOutput, write_value_info(info));
  for (const ValueInfo& info : graph.value_infos) message.add_message(GraphField::kValueInfo, write_value_info(info));
  Pieces pieces;
  pieces.append(std::move(text));
  for (const TensorProto& tensor : graph.initializers) {
    Pieces content = write_tensor(tensor);
    pieces.append(header(GraphField::kInitializer, content.size()));
    pieces.append(std::move(content));
  }
  return pieces;
}

}  // namespace

std::string write_pair(const std::string& key, const std::string& value) {
  std::string text;
  Builder<StringPairField> message(text);
  message.add_string(StringPairField::kKey, key);
  message.add_string(StringPairField::kValue, value);
  return text;
}

std::string write_opset(const OperatorSet& opset) {
  std::string text;
  Builder<OperatorSetField> message(text);
  message.add_string(OperatorSetField::kDomain, opset.domain);
  message.add_int64(OperatorSetField::kVersion, opset.version);
  return text;
}

std::string write_node(const NodeProto& node) {
  std::string text;
  Builder<NodeField> message(text);
  for (const std::string& name : node.inputs) message.add_string(NodeField::kInput, name);
  for (const std::string& name : node.outputs) message.add_string(NodeField::kOutput, name);
  if (!node.name.empty()) message.add_string(NodeField::kName, node.name);
  message.add_string(NodeField::kOpType, node.op_type);
  for (const AttributeProto& attribute : node.attributes) {
    message.add_message(NodeField::kAttribute, write_attribute(attribute));
  }
  if (!node.doc_string.empty()) message.add_string(NodeField::kDocString, node.doc_string);
  if (!node.domain.empty()) message.add_string(NodeField::kDomain, node.domain);
  return text;
}

std::string write_value_info(const ValueInfo& info) {
  std::string shape;
  Builder<ShapeField> shape_message(shape);
  for (const std::int64_t size : info.dims) {
    std::string dimension;
    Builder<DimensionField>(dimension).add_int64(DimensionField::kValue, size);
    shape_message.add_message(ShapeField::kDim, dimension);
  }
  std::string tensor;
  Builder<TensorTypeField> tensor_message(tensor);
  tensor_message.add_int32(TensorTypeField::kElemType, info.elem_type);
  tensor_message.add_message(TensorTypeField::kShape, shape);
  std::string type;
  Builder<TypeField>(type).add_message(TypeField::kTensorType, tensor);
  std::string text;
  Builder<ValueInfoField> message(text);
  message.add_string(ValueInfoField::kName, info.name);
  message.add_message(ValueInfoField::kType, type);
  return text;
}

Pieces write_model(const ModelProto& model) {
  std::string text;
  Builder<ModelField> message(text);
  message.add_int64(ModelField::kIrVersion, model.ir_version);
  message.add_string(ModelField::kProducerName, model.producer_name);
  message.add_string(ModelField::kProducerVersion, model.producer_version);
  if (!model.doc_string.empty()) message.add_string(ModelField::kDocString, model.doc_string);
  for (const OperatorSet& opset : model.opset_imports) {
    message.add_message(ModelField::kOpsetImport, write_opset(opset));
  }
  for (const auto& [key, value] : model.metadata_props) {
    message.add_message(ModelField::kMetadataProps, write_pair(key, value));
  }
  Pieces graph = write_graph(model.graph);
  text += header(ModelField::kGraph, graph.size());
  Pieces pieces;
  pieces.append(std::move(text));
  pieces.append(std::move(graph));
  return pieces;
}

std::string write_added_outputs(const std::vector<ValueInfo>& outputs) {
  std::string graph;
  Builder<GraphField> message(graph);
  for (const ValueInfo& info : outputs) message.add_message(GraphField::kOutput, write_value_info(info));
  std::string text;
  Builder<ModelField>(text).add_message(ModelField::kGraph, graph);
  return text;
}

std::string write_added_copies(const std::vector<std::pair<std::string, ValueInfo>>& copies) {
  std::string graph;
  Builder<GraphField> message(graph);
  for (const auto& [value, info] : copies) {
    NodeProto node;
    node.op_type = "Identity";
    node.name = "Identity(" + info.name + ")";
    node.inputs = {value};
    node.outputs = {info.name};
    message.add_message(GraphField::kNode, write_node(node));
    message.add_message(GraphField::kOutput, write_value_info(info));
  }
  std::string text;
  Builder<ModelField>(text).add_message(ModelField::kGraph, graph);
  return text;
}

}  // namespace leapp::onnx
