// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/verify.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "graph/conditional.h"
#include "graph/loop.h"

namespace leapp::graph {
namespace {

std::string place(const Node& node) {
  std::string text = node.qualified_name();
  if (!node.results().empty()) text += fmt::format(" (%{})", node.result()->name());
  if (!node.location().file.empty()) text += fmt::format(" at {}:{}", node.location().file, node.location().line);
  return text;
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Status run() {
    for (const auto& input : graph_.inputs()) LEAPP_RETURN_IF_ERROR(define(*input));
    for (const auto& constant : graph_.constants()) {
      LEAPP_RETURN_IF_ERROR(define(*constant));
      LEAPP_RETURN_IF_ERROR(check_constant(*constant));
    }
    for (const auto& node : graph_.nodes()) LEAPP_RETURN_IF_ERROR(check_node(*node));
    LEAPP_RETURN_IF_ERROR(check_outputs());
    return check_users();
  }

 private:
  Status define(const Value& value);
  Status check_constant(const Value& value);
  Status check_node(const Node& node);
  Status check_purity(const Node& node);
  Status check_geometry(const Node& node);
  Status check_conditional(const Node& node);
  Status check_loop(const Node& node);
  Status check_outputs();
  Status check_users();

  const Graph& graph_;
  std::unordered_map<std::string, const Value*> defined_;
  std::unordered_map<const Value*, std::unordered_map<const Node*, std::size_t>> reads_;
};

Status Verifier::define(const Value& value) {
  for (std::int64_t extent : value.shape()) {
    if (extent < 0)
      return internal_error(fmt::format("%{}: expected extents of 0 or more, found {}", value.name(), extent));
  }
  if (defined_.emplace(value.name(), &value).second) return {};
  return internal_error(fmt::format("expected unique names, found %{} twice", value.name()));
}

Status Verifier::check_constant(const Value& value) {
  const Constant& constant = value.constant();
  if (constant.type != value.type()) {
    return internal_error(fmt::format("constant %{}: value and bytes disagree about the type", value.name()));
  }
  if (constant.byte_size() > 0 && constant.data == nullptr) {
    return internal_error(
        fmt::format("constant %{}: expected {} bytes, found none", value.name(), constant.byte_size()));
  }
  return {};
}

Status Verifier::check_node(const Node& node) {
  for (const Value* input : node.inputs()) {
    const auto found = defined_.find(input->name());
    if (found == defined_.end() || found->second != input) {
      return internal_error(fmt::format("{}: reads %{}, which is not defined before it", place(node), input->name()));
    }
    ++reads_[input][&node];
  }
  for (std::size_t index = 0; index < node.results().size(); ++index) {
    const Value& result = *node.result(index);
    LEAPP_RETURN_IF_ERROR(define(result));
    if (result.producer() != &node || result.result_index() != index || result.kind() != ValueKind::kResult) {
      return internal_error(fmt::format("{}: result {} does not know its producer", place(node), index));
    }
  }
  LEAPP_RETURN_IF_ERROR(check_purity(node));
  if (is_conditional(node)) return check_conditional(node);
  if (is_loop(node)) return check_loop(node);
  if (node.op() == "aten::as_strided" || node.op() == "aten::as_strided_scatter") return check_geometry(node);
  return {};
}

Status Verifier::check_purity(const Node& node) {
  if (!node.op().starts_with("aten::")) return {};
  const std::string_view name = std::string_view(node.op()).substr(6);
  const bool dunder = name.starts_with("__") && name.ends_with("__");
  bool in_place = name.ends_with("_") && !dunder;
  for (std::string_view writer : {"__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"}) {
    in_place = in_place || name == writer;
  }
  if (in_place) {
    return internal_error(fmt::format("{}: expected operators that write nothing, found one in place", place(node)));
  }
  // Backward kernels of attention have an `out` that they only read; their overload does not say so.
  if (node.overload().ends_with("out") && node.find("out") != nullptr) {
    return internal_error(
        fmt::format("{}: expected operators that write nothing, found an argument 'out'", place(node)));
  }
  return {};
}

Status Verifier::check_geometry(const Node& node) {
  const auto* self = node.find("self");
  const auto* size = node.find("size");
  const auto* stride = node.find("stride");
  const auto* root = self != nullptr ? std::get_if<Value*>(self) : nullptr;
  const auto* sizes = size != nullptr ? std::get_if<std::vector<std::int64_t>>(size) : nullptr;
  const auto* strides = stride != nullptr ? std::get_if<std::vector<std::int64_t>>(stride) : nullptr;
  if (root == nullptr || *root == nullptr || sizes == nullptr || strides == nullptr ||
      sizes->size() != strides->size()) {
    return internal_error(fmt::format("{}: expected self, size and stride of one length", place(node)));
  }
  if ((*root)->shape().size() != 1) {
    return internal_error(
        fmt::format("{}: expected a one-dimensional self, found {}", place(node), shape_text((*root)->shape())));
  }
  const auto* offset = node.find("storage_offset");
  const auto* number = offset != nullptr ? std::get_if<std::int64_t>(offset) : nullptr;
  std::int64_t last = number != nullptr ? *number : 0;
  bool in_bounds = last >= 0;
  bool is_empty = false;
  for (std::size_t dim = 0; dim < sizes->size(); ++dim) {
    const std::int64_t extent = (*sizes)[dim];
    in_bounds = in_bounds && extent >= 0 && (*strides)[dim] >= 0;
    is_empty = is_empty || extent == 0;
    std::int64_t reach = 0;
    if (extent > 1 &&
        (__builtin_mul_overflow(extent - 1, (*strides)[dim], &reach) || __builtin_add_overflow(last, reach, &last))) {
      last = std::numeric_limits<std::int64_t>::max();
    }
  }
  if (in_bounds && (is_empty || last < (*root)->shape()[0])) return {};
  return internal_error(fmt::format("{}: size {}, stride {} and offset {} leave a storage of {} elements", place(node),
                                    shape_text(*sizes), shape_text(*strides), number != nullptr ? *number : 0,
                                    (*root)->shape()[0]));
}

template <typename T>
const T* argument_of(const Node& node, std::string_view name) {
  const Attribute* found = node.find(name);
  return found == nullptr ? nullptr : std::get_if<T>(found);
}

Status check_side(const Node& node, const std::vector<Value*>& operands, std::string_view name, const Graph& side) {
  if (Status status = verify(side); !status.ok()) {
    return {status.code(), fmt::format("{}, '{}': {}", place(node), name, status.message())};
  }
  const auto disagrees = [&](std::string_view what, std::size_t index) {
    return internal_error(fmt::format("{}, '{}': {} {} has another type outside", place(node), name, what, index));
  };
  if (side.inputs().size() != operands.size() || side.outputs().size() != node.results().size()) {
    return internal_error(fmt::format("{}, '{}': expected {} inputs and {} outputs, found {} and {}", place(node), name,
                                      operands.size(), node.results().size(), side.inputs().size(),
                                      side.outputs().size()));
  }
  std::size_t index = 0;
  for (const auto& input : side.inputs()) {
    if (operands[index] == nullptr || operands[index]->type() != input->type()) return disagrees("input", index);
    ++index;
  }
  for (std::size_t i = 0; i < side.outputs().size(); ++i) {
    if (side.outputs()[i].value->type() != node.result(i)->type()) return disagrees("output", i);
  }
  return {};
}

Status Verifier::check_conditional(const Node& node) {
  const auto* condition = argument_of<Value*>(node, "condition");
  const auto* operands = argument_of<std::vector<Value*>>(node, "operands");
  const auto* then_side = argument_of<GraphPtr>(node, "then");
  const auto* else_side = argument_of<GraphPtr>(node, "else");
  if (node.arguments().size() != 4 || condition == nullptr || operands == nullptr || then_side == nullptr ||
      else_side == nullptr || *then_side == nullptr || *else_side == nullptr) {
    return internal_error(fmt::format("{}: expected condition, operands, then and else", place(node)));
  }
  if (*condition == nullptr || (*condition)->type() != TensorType{DType::kBool, {}}) {
    return internal_error(fmt::format("{}: expected a condition of type bool[]", place(node)));
  }
  LEAPP_RETURN_IF_ERROR(check_side(node, *operands, "then", **then_side));
  LEAPP_RETURN_IF_ERROR(check_side(node, *operands, "else", **else_side));
  if (node.is_random() == (has_random(**then_side) || has_random(**else_side))) return {};
  return internal_error(fmt::format("{}: random where its sides are not, or the other way round", place(node)));
}

bool is_a(const Value* value, DType dtype) { return value != nullptr && value->type() == TensorType{dtype, {}}; }

Status Verifier::check_loop(const Node& node) {
  const auto* condition = argument_of<Value*>(node, "condition");
  const auto* carried = argument_of<std::vector<Value*>>(node, "carried");
  const auto* operands = argument_of<std::vector<Value*>>(node, "operands");
  const auto* body = argument_of<GraphPtr>(node, "body");
  const auto* count = argument_of<Value*>(node, "count");
  const bool counted = count != nullptr || argument_of<std::monostate>(node, "count") != nullptr;
  if (node.arguments().size() != 5 || !counted || condition == nullptr || carried == nullptr || operands == nullptr ||
      body == nullptr || *body == nullptr) {
    return internal_error(fmt::format("{}: expected count, condition, carried, operands and body", place(node)));
  }
  if ((count != nullptr && !is_a(*count, DType::kInt64)) || !is_a(*condition, DType::kBool)) {
    return internal_error(fmt::format("{}: expected a count of type int64[] and a condition of bool[]", place(node)));
  }
  const Graph& inside = **body;
  if (Status status = verify(inside); !status.ok()) {
    return {status.code(), fmt::format("{}, 'body': {}", place(node), status.message())};
  }
  const std::size_t slots = carried->size();
  if (inside.inputs().size() != 1 + slots + operands->size() || inside.outputs().size() != 1 + slots ||
      node.results().size() != slots) {
    return internal_error(fmt::format("{}, 'body': expected {} inputs and {} outputs, found {} and {}", place(node),
                                      1 + slots + operands->size(), 1 + slots, inside.inputs().size(),
                                      inside.outputs().size()));
  }
  std::vector<const Value*> given(carried->begin(), carried->end());
  given.insert(given.end(), operands->begin(), operands->end());
  std::size_t index = 0;
  bool agrees = is_a(inside.inputs().front().get(), DType::kInt64) && is_a(inside.outputs()[0].value, DType::kBool);
  for (const auto& input : inside.inputs()) {
    const Value* outside = index == 0 ? input.get() : given[index - 1];
    agrees = agrees && outside != nullptr && outside->type() == input->type();
    ++index;
  }
  for (std::size_t i = 0; agrees && i < slots; ++i) {
    const TensorType& type = (*carried)[i]->type();
    agrees = inside.outputs()[i + 1].value->type() == type && node.result(i)->type() == type;
  }
  if (!agrees) return internal_error(fmt::format("{}, 'body': inputs, outputs and results disagree", place(node)));
  if (node.is_random() == has_random(inside)) return {};
  return internal_error(fmt::format("{}: random where its body is not, or the other way round", place(node)));
}

Status Verifier::check_outputs() {
  std::unordered_set<std::string> names;
  for (const Output& output : graph_.outputs()) {
    if (!names.insert(output.name).second) {
      return internal_error(fmt::format("expected unique output names, found {} twice", quote(output.name)));
    }
    const auto found = output.value == nullptr ? defined_.end() : defined_.find(output.value->name());
    if (found == defined_.end() || found->second != output.value) {
      return internal_error(fmt::format("output {}: its value is not defined in this graph", quote(output.name)));
    }
    if (!output.value->is_output())
      return internal_error(fmt::format("output {}: its value does not know it", quote(output.name)));
  }
  return {};
}

Status Verifier::check_users() {
  for (const auto& [name, value] : defined_) {
    auto expected = reads_.find(value);
    std::size_t total = 0;
    if (expected != reads_.end()) {
      for (const auto& [node, count] : expected->second) total += count;
      for (const Node* user : value->users()) {
        const auto found = expected->second.find(user);
        if (found == expected->second.end() || found->second-- == 0) total = value->users().size() + 1;
      }
    }
    if (total != value->users().size()) {
      return internal_error(fmt::format("%{}: users() and the arguments of nodes disagree", name));
    }
  }
  return {};
}

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace leapp::graph
