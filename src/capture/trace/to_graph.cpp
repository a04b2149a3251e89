// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/to_graph.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/attributes.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"
#include "capture/scripted/control.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/slice.h"
#include "torch_types/failure.h"
#include "torch_types/tensors.h"

namespace leapp::capture {
namespace {

graph::TensorType to_type(const ValueType& type) {
  // Types without a counterpart occur only as unused results: operand() sees to that.
  return {to_dtype(type.dtype).value_or(DType::kFloat32), graph::Shape(type.sizes.begin(), type.sizes.end())};
}

class Builder {
 public:
  explicit Builder(const NodeRecord& node) : node_(node), graph_(node.name) {}

  Result<graph::Graph> build() {
    for (const PortRecord& port : node_.inputs) inputs_[port.name] = graph_.add_input(port.name, to_type(port.type));
    const Slice slice = slice_of(node_.output_values);
    for (const auto& cell : slice.constants) {
      if (cell->hash() != cell->content_hash) {
        return failed_precondition(fmt::format(
            "node '{}': the constant {} used{} was changed between stop() and compile_graph()", node_.name,
            cell->name.empty() ? type_text(cell->type()) : "'" + cell->name + "'", at_line(cell->location)));
      }
    }
    for (const TraceOp* op : slice.ops) LEAPP_RETURN_IF_ERROR(add(*op));
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      const ValuePtr& value = bare(node_.output_values[i]);
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
        TORCH_CHECK(to_dtype(value->type.dtype), "a result of type ", type_text(value->type), " of ",
                    value->op->info->qualified_name(), at_line(value->op->location), " cannot be exported");
        return nodes_.at(value->op.get())->result(value->index);
      default:
        break;
    }
    graph::Value*& made = constants_[value->cell.get()];
    if (!made) {
      auto converted = value->cell->exported();
      TORCH_CHECK(converted, "a constant of type ", type_text(value->type), " used", at_line(value->cell->location),
                  " cannot be exported");
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
    if (op.info->name() == "leapp::control") return add_control(op);
    graph::NodeSpec spec = spec_of(op);
    const auto& schema = op.info->schema().arguments();
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      try {
        spec.arguments.push_back({schema[i].name(), convert(op.arguments[i], schema[i])});
      } catch (const UnknownDtype& dtype) {
        return unimplemented(fmt::format("node '{}': {}{}: '{}' is the dtype {}, which cannot be exported", node_.name,
                                         op.info->qualified_name(), at_line(op.location), schema[i].name(),
                                         dtype.what()));
      } catch (const UnknownArgument& kind) {
        return unimplemented(
            fmt::format("node '{}': {}{}: '{}' is an object ({}) that no model can hold. Of a quantised module: export "
                        "the one it was "
                        "made from, and quantise the ONNX model",
                        node_.name, op.info->qualified_name(), at_line(op.location), schema[i].name(), kind.what()));
      }
    }
    for (const ValueType& type : op.results) spec.results.push_back(to_type(type));
    nodes_[&op] = graph_.append(std::move(spec));
    return {};
  }

  Status add_control(const TraceOp& op) {
    std::vector<graph::Value*> operands;
    for (const ValuePtr& value : op.arguments[0].list) operands.push_back(operand(value));
    LEAPP_ASSIGN_OR_RETURN(graph::NodeSpec spec, control_spec(operands, op.arguments[1].attribute.toStringRef(),
                                                              op.arguments[2].attribute.toStringRef()));
    spec.location = location(op.location);
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
    return to_attribute(argument.attribute, schema.real_type());
  }

  const NodeRecord& node_;
  graph::Graph graph_;
  std::map<std::string, graph::Value*> inputs_;
  std::unordered_map<const TraceOp*, graph::Node*> nodes_;
  std::unordered_map<const ConstantCell*, graph::Value*> constants_;
};

}  // namespace

graph::NodeSpec spec_of(const TraceOp& op) {
  graph::NodeSpec spec;
  spec.op = op.info->name();
  spec.overload = op.info->overload();
  spec.location = location(op.location);
  spec.random = op.random;
  return spec;
}

Result<graph::Graph> to_graph(const NodeRecord& node) {
  try {
    const Suppress quiet;
    return Builder(node).build();
  } catch (const std::exception& failure) {
    return failure_status(failure, [&] { return fmt::format("node '{}': {}", node.name, failure.what()); });
  }
}

}  // namespace leapp::capture
