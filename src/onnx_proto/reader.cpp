// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/reader.h"

#include <fmt/format.h>

#include <protozero/exception.hpp>
#include <protozero/pbf_message.hpp>

#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"

namespace leapp::onnx {
namespace {

// Messages that are not what they should be are reported by protozero's exceptions, which read_model turns into a
// Status: a field of the wrong kind is skipped, as protobuf does it.

template <typename Field>
bool is_bytes(const Message<Field>& message) {
  return message.wire_type() == protozero::pbf_wire_type::length_delimited;
}

template <typename Field>
bool is_number(const Message<Field>& message) {
  return message.wire_type() == protozero::pbf_wire_type::varint;
}

/// The last string of that field, as protobuf takes it; empty when there is none.
template <typename Field>
std::string_view find_text(protozero::data_view bytes, Field field) {
  std::string_view found;
  for (Message<Field> message(bytes); message.next();) {
    if (message.tag() == field && is_bytes(message)) {
      found = text(message.get_view());
    } else {
      message.skip();
    }
  }
  return found;
}

template <typename Field>
NamedView named(protozero::data_view bytes, Field name) {
  return {find_text(bytes, name), encoded(bytes)};
}

// The name of a sparse tensor is that of its values.
NamedView read_sparse_tensor(protozero::data_view bytes) {
  const std::string_view values = find_text(bytes, SparseTensorField::kValues);
  return {find_text(protozero::data_view(values.data(), values.size()), TensorField::kName), encoded(bytes)};
}

std::int64_t read_dimension(protozero::data_view bytes) {
  std::int64_t extent = -1;
  for (Message<DimensionField> message(bytes); message.next();) {
    if (message.tag() == DimensionField::kValue && is_number(message)) {
      extent = message.get_int64();
    } else {
      message.skip();
    }
  }
  return extent < 0 ? -1 : extent;
}

std::vector<std::int64_t> read_shape(protozero::data_view bytes) {
  std::vector<std::int64_t> dims;
  for (Message<ShapeField> message(bytes); message.next();) {
    if (message.tag() == ShapeField::kDim && is_bytes(message)) {
      dims.push_back(read_dimension(message.get_view()));
    } else {
      message.skip();
    }
  }
  return dims;
}

void read_tensor_type(protozero::data_view bytes, ValueInfoView& info) {
  for (Message<TensorTypeField> message(bytes); message.next();) {
    if (message.tag() == TensorTypeField::kElemType && is_number(message)) {
      info.elem_type = message.get_int32();
    } else if (message.tag() == TensorTypeField::kShape && is_bytes(message)) {
      info.dims = read_shape(message.get_view());
    } else {
      message.skip();
    }
  }
}

ValueInfoView read_value_info(protozero::data_view bytes) {
  ValueInfoView info;
  info.name = find_text(bytes, ValueInfoField::kName);
  const std::string_view type = find_text(bytes, ValueInfoField::kType);
  const std::string_view tensor = find_text(protozero::data_view(type.data(), type.size()), TypeField::kTensorType);
  read_tensor_type(protozero::data_view(tensor.data(), tensor.size()), info);
  return info;
}

GraphView read_graph(protozero::data_view bytes) {
  GraphView graph;
  for (Message<GraphField> message(bytes); message.next();) {
    if (!is_bytes(message)) {
      message.skip();
      continue;
    }
    const GraphField field = message.tag();
    const protozero::data_view content = message.get_view();
    switch (field) {
      case GraphField::kNode:
        graph.nodes.push_back(encoded(content));
        break;
      case GraphField::kInitializer:
        graph.initializers.push_back(named(content, TensorField::kName));
        break;
      case GraphField::kSparseInitializer:
        graph.sparse_initializers.push_back(read_sparse_tensor(content));
        break;
      case GraphField::kInput:
        graph.inputs.push_back(read_value_info(content));
        break;
      case GraphField::kOutput:
        graph.outputs.push_back(read_value_info(content));
        break;
      case GraphField::kValueInfo:
        graph.value_infos.push_back(named(content, ValueInfoField::kName));
        break;
      case GraphField::kQuantization:
        graph.annotations.push_back(encoded(content));
        break;
      default:
        break;
    }
  }
  return graph;
}

OperatorSet read_opset(protozero::data_view bytes) {
  OperatorSet opset;
  for (Message<OperatorSetField> message(bytes); message.next();) {
    if (message.tag() == OperatorSetField::kDomain && is_bytes(message)) {
      opset.domain = message.get_string();
    } else if (message.tag() == OperatorSetField::kVersion && is_number(message)) {
      opset.version = message.get_int64();
    } else {
      message.skip();
    }
  }
  if (opset.domain == "ai.onnx") opset.domain.clear();
  return opset;
}

void read_part(ModelField field, protozero::data_view bytes, ModelView& model) {
  switch (field) {
    case ModelField::kOpsetImport:
      model.opset_imports.push_back(read_opset(bytes));
      break;
    case ModelField::kMetadataProps:
      model.metadata_props.emplace_back(find_text(bytes, StringPairField::kKey),
                                        find_text(bytes, StringPairField::kValue));
      break;
    case ModelField::kFunction:
      model.functions.push_back(
          {find_text(bytes, FunctionField::kDomain), find_text(bytes, FunctionField::kName), encoded(bytes)});
      break;
    default:
      break;
  }
}

Result<ModelView> read_parts(Encoded bytes) {
  ModelView model;
  int graphs = 0;
  for (Message<ModelField> message(view_of(bytes)); message.next();) {
    if (message.tag() == ModelField::kIrVersion && is_number(message)) {
      model.ir_version = message.get_int64();
    } else if (!is_bytes(message)) {
      message.skip();
    } else if (message.tag() == ModelField::kGraph) {
      model.graph = read_graph(message.get_view());
      ++graphs;
    } else {
      const ModelField field = message.tag();
      read_part(field, message.get_view(), model);
    }
  }
  // Protobuf would put several together, which no honest writer asks for.
  if (graphs != 1) return data_loss(fmt::format("not an ONNX model: expected one graph, found {}", graphs));
  return model;
}

}  // namespace

Result<ModelView> read_model(Encoded model) {
  try {
    return read_parts(model);
  } catch (const protozero::exception& error) {
    return data_loss(fmt::format("not an ONNX model: {}", error.what()));
  }
}

Result<GraphView> read_graph(Encoded graph) {
  try {
    return read_graph(view_of(graph));
  } catch (const protozero::exception& error) {
    return data_loss(fmt::format("not a graph of an ONNX model: {}", error.what()));
  }
}

Result<ValueInfoView> read_value_info(Encoded value_info) {
  try {
    return read_value_info(view_of(value_info));
  } catch (const protozero::exception& error) {
    return data_loss(fmt::format("not a value of an ONNX model: {}", error.what()));
  }
}

}  // namespace leapp::onnx
