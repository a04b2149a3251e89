// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <protozero/pbf_message.hpp>
#include <string>
#include <variant>

#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"
#include "onnx_proto/shapes.h"

namespace leapp::onnx {
namespace {

constexpr std::int64_t kText = 8;  // a TensorProto.DataType

// Attributes of one text that becomes an element. Those of several are taken for such, whatever they are called.
constexpr std::array<std::string_view, 3> kElements{"value_string", "default_string", "pad_value"};

Status check_length(std::size_t length) {
  if (length <= kLongestText) return {};
  return invalid_argument(fmt::format("expected texts of at most {} bytes in tensors, found {}", kLongestText, length));
}

Status check_attribute(const AttributeProto& attribute) {
  if (const auto* one = std::get_if<std::string>(&attribute.value)) {
    const bool element = std::find(kElements.begin(), kElements.end(), attribute.name) != kElements.end();
    return element ? check_length(one->size()) : Status();
  }
  if (const auto* several = std::get_if<std::vector<std::string>>(&attribute.value)) {
    for (const std::string& text : *several) LEAPP_RETURN_IF_ERROR(check_length(text.size()));
  }
  return {};
}

}  // namespace

Status check_texts(Encoded tensor) {
  for (Message<TensorField> message(view_of(tensor)); message.next();) {
    if (message.tag() == TensorField::kStringData &&
        message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      LEAPP_RETURN_IF_ERROR(check_length(message.get_view().size()));
    } else {
      message.skip();
    }
  }
  return {};
}

Status check_texts(const NodeView& node) {
  // In a function it may be what the caller says.
  const bool cast = node.op_type == "Cast" && integer_of(node, "to", kText) == kText;
  if (cast || node.op_type == "StringConcat") {
    return invalid_argument("expected no operator that makes texts: nobody counts the memory they take");
  }
  for (const NamedView& tensor : node.tensors) LEAPP_RETURN_IF_ERROR(check_texts(tensor.bytes));
  for (const AttributeProto& attribute : node.attributes) LEAPP_RETURN_IF_ERROR(check_attribute(attribute));
  return {};
}

}  // namespace leapp::onnx
