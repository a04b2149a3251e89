// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/contents.h"

#include <fmt/format.h>

#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/pbf_message.hpp>
#include <utility>

#include "base/text.h"
#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"

namespace leapp::onnx {
namespace {

using protozero::pbf_wire_type;

Status not_protobuf(const std::exception& error) {
  return data_loss(fmt::format("not a protobuf message: {}", error.what()));
}

// Numbers of a list come packed or one by one.
template <typename T, typename Field, typename GetOne>
void add_numbers(Message<Field>& message, std::vector<T>& numbers, GetOne one) {
  if (message.wire_type() == pbf_wire_type::length_delimited) {
    protozero::data_view packed = message.get_view();
    if constexpr (std::is_floating_point_v<T>) {
      if (packed.size() % sizeof(T) != 0) throw protozero::invalid_length_exception{};
      const std::size_t before = numbers.size();
      numbers.resize(before + packed.size() / sizeof(T));
      if (packed.size() > 0) std::memcpy(numbers.data() + before, packed.data(), packed.size());
    } else {
      const char* at = packed.data();
      const char* end = at + packed.size();
      while (at != end) numbers.push_back(static_cast<T>(protozero::decode_varint(&at, end)));
    }
  } else {
    constexpr auto kExpected = std::is_same_v<T, float>    ? pbf_wire_type::fixed32
                               : std::is_same_v<T, double> ? pbf_wire_type::fixed64
                                                           : pbf_wire_type::varint;
    if (message.wire_type() == kExpected) {
      numbers.push_back(one(message));
    } else {
      message.skip();
    }
  }
}

template <typename T>
Bytes bytes_of(const std::vector<T>& numbers) {
  return Bytes::copy_of(std::as_bytes(std::span(numbers)));
}

// 32-bit fields hold the smaller types too: the low bytes of each count.
Bytes narrowed(const std::vector<std::int32_t>& numbers, std::size_t width) {
  std::vector<std::byte> bytes(numbers.size() * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) std::memcpy(bytes.data() + i * width, &numbers[i], width);
  return Bytes::copy_of(bytes);
}

struct Fields {
  std::int32_t data_type = 0;
  std::optional<Encoded> raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int32_t> ints;
  std::vector<std::int64_t> longs;
  std::vector<std::uint64_t> unsigned_longs;
};

void read_tensor_field(Message<TensorField>& message, TensorContents& tensor, Fields& fields) {
  const bool bytes = message.wire_type() == pbf_wire_type::length_delimited;
  const bool number = message.wire_type() == pbf_wire_type::varint;
  switch (message.tag()) {
    case TensorField::kDims:
      return add_numbers(message, tensor.dims, [](auto& one) { return one.get_int64(); });
    case TensorField::kFloatData:
      return add_numbers(message, fields.floats, [](auto& one) { return one.get_float(); });
    case TensorField::kDoubleData:
      return add_numbers(message, fields.doubles, [](auto& one) { return one.get_double(); });
    case TensorField::kInt32Data:
      return add_numbers(message, fields.ints, [](auto& one) { return one.get_int32(); });
    case TensorField::kInt64Data:
      return add_numbers(message, fields.longs, [](auto& one) { return one.get_int64(); });
    case TensorField::kUint64Data:
      return add_numbers(message, fields.unsigned_longs, [](auto& one) { return one.get_uint64(); });
    case TensorField::kDataType:
      if (number)
        fields.data_type = message.get_int32();
      else
        message.skip();
      return;
    case TensorField::kDataLocation:
      if (number)
        tensor.external = message.get_int32() == kExternalLocation;
      else
        message.skip();
      return;
    case TensorField::kName:
      if (bytes)
        tensor.name = text(message.get_view());
      else
        message.skip();
      return;
    case TensorField::kRawData:
      if (bytes)
        fields.raw = encoded(message.get_view());
      else
        message.skip();
      return;
    default:
      message.skip();
  }
}

Bytes contents_of(const Fields& fields, DType dtype) {
  if (fields.raw) return {nullptr, *fields.raw};
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return bytes_of(fields.floats);
    case DType::kFloat64:
    case DType::kComplex128:
      return bytes_of(fields.doubles);
    case DType::kInt64:
      return bytes_of(fields.longs);
    case DType::kUInt64:
      return bytes_of(fields.unsigned_longs);
    case DType::kUInt32: {
      const std::vector<std::uint32_t> numbers(fields.unsigned_longs.begin(), fields.unsigned_longs.end());
      return bytes_of(numbers);
    }
    default:
      return narrowed(fields.ints, dtype_size(dtype));
  }
}

TensorContents decode_tensor(Encoded bytes) {
  TensorContents tensor;
  Fields fields;
  for (Message<TensorField> message(view_of(bytes)); message.next();) read_tensor_field(message, tensor, fields);
  tensor.dtype = dtype_of(fields.data_type);
  if (tensor.dtype && !tensor.external) tensor.bytes = contents_of(fields, *tensor.dtype);
  return tensor;
}

/// An attribute's parts, before its type says which of them counts.
struct AttributeParts {
  std::string_view name;
  std::int64_t integer = 0;
  float number = 0;
  std::string_view string;
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;
  std::vector<std::string> strings;
  std::optional<Encoded> tensor;
  std::int32_t type = 0;
};

void read_bytes_field(AttributeField field, protozero::data_view content, AttributeParts& parts, NodeView& node) {
  switch (field) {
    case AttributeField::kName:
      parts.name = text(content);
      break;
    case AttributeField::kString:
      parts.string = text(content);
      break;
    case AttributeField::kStrings:
      parts.strings.emplace_back(text(content));
      break;
    case AttributeField::kTensor:
      parts.tensor = encoded(content);
      break;
    case AttributeField::kGraph:
    case AttributeField::kGraphs:
      node.graphs.push_back(encoded(content));
      break;
    case AttributeField::kSparseTensor:
    case AttributeField::kSparseTensors:
      node.sparse_tensors.push_back(encoded(content));
      break;
    default:
      break;
  }
}

AttributeParts read_parts(protozero::data_view bytes, NodeView& node) {
  AttributeParts parts;
  for (Message<AttributeField> message(bytes); message.next();) {
    const AttributeField field = message.tag();
    const pbf_wire_type wire = message.wire_type();
    if (field == AttributeField::kInts) {
      add_numbers(message, parts.integers, [](auto& one) { return one.get_int64(); });
    } else if (field == AttributeField::kFloats) {
      add_numbers(message, parts.numbers, [](auto& one) { return one.get_float(); });
    } else if (field == AttributeField::kInt && wire == pbf_wire_type::varint) {
      parts.integer = message.get_int64();
    } else if (field == AttributeField::kType && wire == pbf_wire_type::varint) {
      parts.type = message.get_int32();
    } else if (field == AttributeField::kFloat && wire == pbf_wire_type::fixed32) {
      parts.number = message.get_float();
    } else if (wire == pbf_wire_type::length_delimited) {
      read_bytes_field(field, message.get_view(), parts, node);
    } else {
      message.skip();
    }
  }
  return parts;
}

std::optional<AttributeValue> value_of(AttributeParts& parts) {
  switch (static_cast<AttributeType>(parts.type)) {
    case AttributeType::kFloat:
      return parts.number;
    case AttributeType::kInt:
      return parts.integer;
    case AttributeType::kString:
      return std::string(parts.string);
    case AttributeType::kFloats:
      return std::move(parts.numbers);
    case AttributeType::kInts:
      return std::move(parts.integers);
    case AttributeType::kStrings:
      return std::move(parts.strings);
    case AttributeType::kTensor: {
      if (!parts.tensor) return std::nullopt;
      const TensorContents found = decode_tensor(*parts.tensor);
      TensorProto tensor;
      tensor.name = std::string(found.name);
      tensor.data_type = found.dtype ? data_type_of(*found.dtype).value_or(0) : 0;
      tensor.dims = found.dims;
      return tensor;
    }
    case AttributeType::kGraph:  // stands in NodeView::graphs
      break;
  }
  return std::nullopt;
}

NodeView decode_node(Encoded bytes) {
  NodeView node;
  for (Message<NodeField> message(view_of(bytes)); message.next();) {
    if (message.wire_type() != pbf_wire_type::length_delimited) {
      message.skip();
      continue;
    }
    const NodeField field = message.tag();
    const protozero::data_view content = message.get_view();
    if (field == NodeField::kOpType) node.op_type = text(content);
    if (field == NodeField::kDomain) node.domain = text(content);
    if (field == NodeField::kName) node.name = text(content);
    if (field == NodeField::kDocString) node.doc_string = text(content);
    if (field == NodeField::kInput) node.inputs.push_back(text(content));
    if (field == NodeField::kOutput) node.outputs.push_back(text(content));
    if (field != NodeField::kAttribute) continue;
    AttributeParts parts = read_parts(content, node);
    node.graph_attributes.resize(node.graphs.size(), parts.name);
    if (parts.tensor) node.tensors.push_back({parts.name, *parts.tensor});
    if (auto value = value_of(parts)) node.attributes.push_back({std::string(parts.name), std::move(*value)});
  }
  return node;
}

/// Walks through nodes and the graphs inside them.
class Counter {
 public:
  void add_node(Encoded bytes, int depth) {
    if (depth > kDeepestGraph) throw protozero::invalid_length_exception{};
    const NodeView node = decode_node(bytes);
    const bool own = node.domain.empty() || node.domain == "ai.onnx";
    ++counts[own ? std::string(node.op_type) : fmt::format("{}::{}", node.domain, node.op_type)];
    for (const Encoded graph : node.graphs) add_nodes<GraphField>(graph, depth + 1);
  }

  template <typename Field>
  void add_nodes(Encoded bytes, int depth) {
    for (Message<Field> message(view_of(bytes)); message.next();) {
      if (message.tag() == Field::kNode && message.wire_type() == pbf_wire_type::length_delimited) {
        add_node(encoded(message.get_view()), depth);
      } else {
        message.skip();
      }
    }
  }

  std::map<std::string, std::size_t> counts;
};

}  // namespace

std::optional<std::uint64_t> TensorContents::elements() const {
  std::uint64_t count = 1;
  for (const std::int64_t extent : dims) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) return std::nullopt;
  }
  return count;
}

Result<NodeView> read_node(Encoded node) {
  try {
    return decode_node(node);
  } catch (const protozero::exception& error) {
    return not_protobuf(error);
  }
}

Result<TensorContents> read_tensor(Encoded bytes) {
  try {
    TensorContents tensor = decode_tensor(bytes);
    const auto elements = tensor.elements();
    if (!elements) return data_loss(fmt::format("{}: a shape that overflows", quote(tensor.name)));
    if (!tensor.dtype || tensor.external) return tensor;
    const std::uint64_t found = tensor.bytes.view.size();
    const std::size_t width = dtype_size(*tensor.dtype);
    if (found % width != 0 || found / width != *elements) {
      return data_loss(fmt::format("{}: {} bytes do not make a {}", quote(tensor.name), found,
                                   type_text(*tensor.dtype, tensor.dims)));
    }
    return tensor;
  } catch (const protozero::exception& error) {
    return not_protobuf(error);
  }
}

Result<std::map<std::string, std::size_t>> count_operators(const ModelView& model) {
  try {
    Counter counter;
    for (const Encoded node : model.graph.nodes) counter.add_node(node, 0);
    for (const FunctionView& function : model.functions) counter.add_nodes<FunctionField>(function.bytes, 0);
    return std::move(counter.counts);
  } catch (const protozero::exception& error) {
    return not_protobuf(error);
  }
}

}  // namespace leapp::onnx
