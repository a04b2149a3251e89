// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/to_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "capture/arguments.h"
#include "capture/constant_outputs.h"
#include "capture/hook.h"
#include "capture/op_info.h"
#include "capture/slice.h"
#include "torch_types/tensors.h"

namespace leapp::capture {
namespace {

graph::TensorType to_type(const ValueType& type) {
  // Types without a counterpart occur only as unused results.
  return {to_dtype(type.dtype).value_or(DType::kFloat32), graph::Shape(type.sizes.begin(), type.sizes.end())};
}

template <typename T>
std::string text_of(const T& thing) {
  std::ostringstream text;
  text << thing;
  return text.str();
}

graph::Attribute scalar(const c10::IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  return graph::Complex(value.toComplexDouble().real(), value.toComplexDouble().imag());
}

/// An argument that names a dtype which no graph has.
class UnknownDtype : public std::exception {
 public:
  explicit UnknownDtype(at::ScalarType dtype) : text_(dtype_text(dtype)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

DType dtype_of(const c10::IValue& value) {
  const auto scalar_type = static_cast<at::ScalarType>(value.toInt());
  const auto known = to_dtype(scalar_type);
  return known ? *known : throw UnknownDtype(scalar_type);
}

graph::Attribute list(const c10::IValue& value, const c10::Type& element) {
  const auto items = value.toListRef();
  const auto collect = [&]<typename T>(auto get) {
    std::vector<T> result;
    for (const c10::IValue& item : items) result.push_back(get(item));
    return result;
  };
  switch (element.kind()) {
    case c10::TypeKind::BoolType:
      return collect.operator()<bool>([](const auto& item) { return item.toBool(); });
    case c10::TypeKind::FloatType:
      return collect.operator()<double>([](const auto& item) { return item.toDouble(); });
    case c10::TypeKind::StringType:
      return collect.operator()<std::string>([](const auto& item) { return item.toStringRef(); });
    case c10::TypeKind::NumberType:
      return collect.operator()<graph::Scalar>([](const c10::IValue& item) {
        return std::visit(
            [](const auto& number) -> graph::Scalar {
              if constexpr (std::is_constructible_v<graph::Scalar, decltype(number)>) return number;
              return std::int64_t{0};
            },
            scalar(item));
      });
    case c10::TypeKind::ScalarTypeType:
      return collect.operator()<DType>([](const auto& item) { return dtype_of(item); });
    default:
      return collect.operator()<std::int64_t>([](const auto& item) { return item.toInt(); });
  }
}

graph::Attribute attribute(const c10::IValue& value, c10::TypePtr type) {
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  if (value.isNone()) return std::monostate{};
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return graph::Device{value.toDevice().str()};
  if (value.isList()) {
    const auto element = type->cast<c10::ListType>();
    return list(value, element ? *element->getElementType() : *c10::IntType::get());
  }
  if (value.isInt()) {
    switch (type->kind()) {
      case c10::TypeKind::ScalarTypeType:
        return dtype_of(value);
      case c10::TypeKind::LayoutType: {
        std::string name = text_of(static_cast<at::Layout>(value.toInt()));
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        return graph::Layout{name};
      }
      case c10::TypeKind::MemoryFormatType: {
        switch (static_cast<at::MemoryFormat>(value.toInt())) {
          case at::MemoryFormat::Contiguous:
            return graph::MemoryFormat{"contiguous_format"};
          case at::MemoryFormat::ChannelsLast:
            return graph::MemoryFormat{"channels_last"};
          case at::MemoryFormat::ChannelsLast3d:
            return graph::MemoryFormat{"channels_last_3d"};
          default:
            return graph::MemoryFormat{"preserve_format"};
        }
      }
      case c10::TypeKind::FloatType:
        return static_cast<double>(value.toInt());
      default:
        break;
    }
  }
  return scalar(value);
}

class Builder {
 public:
  Builder(const NodeRecord& node) : node_(node), graph_(node.name) {}

  Result<graph::Graph> build() {
    for (const PortRecord& port : node_.inputs) inputs_[port.name] = graph_.add_input(port.name, to_type(port.type));
    const Slice slice = slice_of(node_.output_values);
    for (const auto& cell : slice.constants) {
      if (content_hash(cell->tensor) != cell->content_hash) {
        return failed_precondition(
            fmt::format("node '{}': the constant {} used{} was changed between stop() and compile_graph()", node_.name,
                        cell->name.empty() ? describe(cell->tensor) : "'" + cell->name + "'", at_line(cell->location)));
      }
    }
    for (const TraceOp* op : slice.ops) LEAPP_RETURN_IF_ERROR(add(*op));
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      const ValuePtr& value = bare(node_.output_values[i]);
      if (value->kind == TracedKind::kResult && dynamic_.contains(value->op.get())) {
        return invalid_argument(
            fmt::format("output '{}' of node '{}': its shape depends on data (through {}{}); a port "
                        "needs a fixed shape",
                        node_.outputs[i].name, node_.name, dynamic_.at(value->op.get())->info->name(),
                        at_line(dynamic_.at(value->op.get())->location)));
      }
      graph_.add_output(node_.outputs[i].name, operand(value));
    }
    return std::move(graph_);
  }

 private:
  graph::Value* operand(const ValuePtr& value) {
    switch (value->kind) {
      case TracedKind::kInput:
        return inputs_.at(value->origin->port);
      case TracedKind::kResult:
        return nodes_.at(value->op.get())->result(value->index);
      default:
        break;
    }
    graph::Value*& made = constants_[value->cell.get()];
    if (!made) {
      auto converted = to_constant(value->cell->tensor);
      TORCH_CHECK(converted, "a constant of type ", describe(value->cell->tensor), " used",
                  at_line(value->cell->location), " cannot be exported");
      graph::Constant constant = std::move(*converted);
      constant.parameter = value->cell->parameter;
      made = graph_.add_constant(std::move(constant), value->cell->name);
    }
    return made;
  }

  Status add(const TraceOp& op) {
    if (!op.info->writes().empty()) {
      return unimplemented(fmt::format("node '{}': {}{} writes to its arguments and has no functional form", node_.name,
                                       op.info->qualified_name(), at_line(op.location)));
    }
    graph::NodeSpec spec;
    spec.op = op.info->name();
    spec.overload = op.info->overload();
    spec.location = location(op.location);
    spec.random = op.random;
    const auto& schema = op.info->schema().arguments();
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      try {
        spec.arguments.push_back({schema[i].name(), convert(op.arguments[i], schema[i])});
      } catch (const UnknownDtype& dtype) {
        return unimplemented(fmt::format("node '{}': {}{}: '{}' is the dtype {}, which cannot be exported", node_.name,
                                         op.info->qualified_name(), at_line(op.location), schema[i].name(),
                                         dtype.what()));
      }
    }
    for (const ValueType& type : op.results) spec.results.push_back(to_type(type));
    note_dynamic(op);
    nodes_[&op] = graph_.append(std::move(spec));
    return {};
  }

  graph::Attribute convert(const TraceArgument& argument, const c10::Argument& schema) {
    switch (argument.kind) {
      case TraceArgument::Kind::kTensor:
        return operand(argument.tensor);
      case TraceArgument::Kind::kTensorList: {
        std::vector<graph::Value*> values;
        for (const ValuePtr& value : argument.list) values.push_back(value ? operand(value) : nullptr);
        return values;
      }
      case TraceArgument::Kind::kAttribute:
        break;
    }
    return attribute(argument.attribute, schema.real_type());
  }

  // A shape that depends on data reaches whatever has the same shape.
  void note_dynamic(const TraceOp& op) {
    if (shape_depends_on_data(op)) dynamic_[&op] = &op;
    for_each_operand(op, [&](const ValuePtr& value) {
      if (value->kind != TracedKind::kResult || !dynamic_.contains(value->op.get())) return;
      const bool same = std::any_of(op.results.begin(), op.results.end(),
                                    [&](const ValueType& type) { return type.sizes == value->type.sizes; });
      if (same) dynamic_[&op] = dynamic_.at(value->op.get());
    });
  }

  const NodeRecord& node_;
  graph::Graph graph_;
  std::map<std::string, graph::Value*> inputs_;
  std::unordered_map<const TraceOp*, graph::Node*> nodes_;
  std::unordered_map<const ConstantCell*, graph::Value*> constants_;
  std::unordered_map<const TraceOp*, const TraceOp*> dynamic_;
};

}  // namespace

Result<graph::Graph> to_graph(const NodeRecord& node) {
  try {
    const Suppress quiet;
    return Builder(node).build();
  } catch (const std::exception& failure) {
    return internal_error(fmt::format("node '{}': {}", node.name, failure.what()));
  }
}

}  // namespace leapp::capture
