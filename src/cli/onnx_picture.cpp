// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/onnx_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "draw/bundle_picture.h"
#include "inspect/numbers.h"
#include "onnx_proto/contents.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kPreviewElements = 6;
constexpr std::size_t kLongestList = 8;  // elements of an attribute that are shown

struct AttributeText {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return quote(value); }
  std::string operator()(const onnx::TensorProto& value) const {
    const auto dtype = onnx::dtype_of(value.data_type);
    return dtype ? type_text(*dtype, value.dims) : "tensor";
  }
  std::string operator()(const std::shared_ptr<const onnx::GraphProto>& /*body*/) const { return "a graph"; }
  template <typename T>
  std::string operator()(const std::vector<T>& list) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(list.size(), kLongestList); ++i) parts.push_back((*this)(list[i]));
    if (list.size() > kLongestList) parts.emplace_back("…");
    return "[" + join(parts, ", ") + "]";
  }
};

std::string arguments_text(const onnx::NodeView& node) {
  std::vector<std::string> parts;
  for (const std::string_view input : node.inputs) parts.push_back(input.empty() ? "none" : "%" + std::string(input));
  for (const onnx::AttributeProto& attribute : node.attributes) {
    parts.push_back(attribute.name + "=" + std::visit(AttributeText(), attribute.value));
  }
  if (!node.graphs.empty()) parts.push_back(fmt::format("{} graphs inside", node.graphs.size()));
  return join(parts, ", ");
}

std::string preview(const onnx::TensorContents& tensor) {
  if (!tensor.dtype || !inspect::is_number(*tensor.dtype) || tensor.external) return "";
  const std::size_t size = dtype_size(*tensor.dtype);
  const std::size_t count = tensor.bytes.view.size() / size;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(count, kPreviewElements); ++i) {
    parts.push_back(inspect::element_text(*tensor.dtype, tensor.bytes.view.data() + i * size));
  }
  if (count > kPreviewElements) parts.emplace_back("…");
  return join(parts, ", ");
}

/// What is known of the model's values by name.
struct Values {
  std::map<std::string_view, std::string> types;
  std::map<std::string_view, std::uint64_t> bytes;  ///< of constants
};

void note_type(Values& values, const onnx::ValueInfoView& info) {
  const auto dtype = info.elem_type ? onnx::dtype_of(*info.elem_type) : std::nullopt;
  if (dtype && info.dims) values.types[info.name] = type_text(*dtype, *info.dims);
}

Status add_constants(const onnx::ModelView& model, draw::PictureNode& node, Values& values) {
  for (const onnx::NamedView& initializer : model.graph.initializers) {
    LEAPP_ASSIGN_OR_RETURN(const onnx::TensorContents tensor, onnx::read_tensor(initializer.bytes));
    const std::uint64_t bytes =
        tensor.dtype ? tensor.elements().value_or(0) * dtype_size(*tensor.dtype) : tensor.bytes.view.size();
    values.bytes[initializer.name] = bytes;
    node.constants.push_back({.name = std::string(initializer.name),
                              .dtype = tensor.dtype ? std::string(dtype_name(*tensor.dtype)) : "unknown",
                              .shape = draw::spaced_shape(tensor.dims),
                              .bytes = bytes,
                              .preview = preview(tensor)});
  }
  return {};
}

draw::PictureOperator operator_of(const onnx::NodeView& view, const Values& values) {
  draw::PictureOperator op{
      .op = view.domain.empty() ? std::string(view.op_type) : fmt::format("{}::{}", view.domain, view.op_type),
      .arguments = arguments_text(view)};
  for (const std::string_view output : view.outputs) {
    const auto type = values.types.find(output);
    op.results.push_back({std::string(output), type == values.types.end() ? "" : type->second});
  }
  for (const std::string_view input : view.inputs) {
    if (const auto bytes = values.bytes.find(input); bytes != values.bytes.end()) op.constant_bytes += bytes->second;
  }
  if (!view.doc_string.empty()) op.source = draw::parse_line(std::string(view.doc_string));
  return op;
}

}  // namespace

Status add_onnx(std::span<const std::byte> bytes, draw::PictureNode& node) {
  LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView model, onnx::read_model(bytes));
  Values values;
  for (const onnx::ValueInfoView& info : model.graph.inputs) note_type(values, info);
  for (const onnx::ValueInfoView& info : model.graph.outputs) note_type(values, info);
  for (const onnx::NamedView& encoded : model.graph.value_infos) {
    LEAPP_ASSIGN_OR_RETURN(const onnx::ValueInfoView info, onnx::read_value_info(encoded.bytes));
    note_type(values, info);
  }
  LEAPP_RETURN_IF_ERROR(add_constants(model, node, values));
  for (const onnx::Encoded encoded : model.graph.nodes) {
    LEAPP_ASSIGN_OR_RETURN(const onnx::NodeView view, onnx::read_node(encoded));
    node.operators.push_back(operator_of(view, values));
  }
  node.operators_known = true;
  return {};
}

}  // namespace leapp::cli
