// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/simplify_views.h"

#include <algorithm>
#include <optional>

namespace leapp::graph {
namespace {

using Dims = std::vector<std::int64_t>;

Value* tensor_of(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  const auto* value = attribute != nullptr ? std::get_if<Value*>(attribute) : nullptr;
  return value != nullptr ? *value : nullptr;
}

const Dims* list(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute != nullptr ? std::get_if<Dims>(attribute) : nullptr;
}

std::size_t index_of(const Node& node, std::string_view name) {
  const auto& arguments = node.arguments();
  const auto is_it = [name](const Argument& argument) { return argument.name == name; };
  return static_cast<std::size_t>(std::find_if(arguments.begin(), arguments.end(), is_it) - arguments.begin());
}

// Counted from the front, whatever the sign.
std::optional<Dims> permutation(const Node& node) {
  const Dims* dims = list(node, "dims");
  if (dims == nullptr) return std::nullopt;
  Dims order = *dims;
  for (std::int64_t& dim : order) {
    if (dim < 0) dim += std::ssize(order);
    if (dim < 0 || dim >= std::ssize(order)) return std::nullopt;
  }
  return order;
}

bool is_identity(const Dims& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// What the node's result is already, or nullptr.
Value* same_value(const Node& node) {
  const std::string& op = node.op();
  Value* self = tensor_of(node, "self");
  if (self == nullptr || node.results().size() != 1) return nullptr;
  const TensorType& type = node.result()->type();
  if (op == "aten::reshape" || op == "aten::expand" || op == "aten::slice")
    return self->type() == type ? self : nullptr;
  if (op == "aten::permute") {
    const auto order = permutation(node);
    return order && is_identity(*order) && self->type() == type ? self : nullptr;
  }
  if (op == "aten::slice_scatter") {
    Value* source = tensor_of(node, "src");
    return source != nullptr && source->type() == type && self->type() == type ? source : nullptr;
  }
  return nullptr;
}

void retarget(Graph& graph, Node* node, Node* inner) {
  Value* self = tensor_of(*inner, "self");
  graph.set_argument(node, index_of(*node, "self"), self);
  if (inner->result()->unused()) graph.erase(inner);
}

// Reads through a view of the same kind below.
bool join_with_inner(Graph& graph, Node* node) {
  if (node->op() != "aten::reshape" && node->op() != "aten::permute") return false;
  const Value* self = tensor_of(*node, "self");
  Node* inner = self != nullptr ? self->producer() : nullptr;
  if (inner == nullptr || inner->op() != node->op() || tensor_of(*inner, "self") == nullptr) return false;
  if (node->op() == "aten::permute") {
    auto outer_order = permutation(*node);
    const auto inner_order = permutation(*inner);
    if (!outer_order || !inner_order || outer_order->size() != inner_order->size()) return false;
    for (std::int64_t& dim : *outer_order) dim = (*inner_order)[static_cast<std::size_t>(dim)];
    graph.set_argument(node, index_of(*node, "dims"), std::move(*outer_order));
  }
  retarget(graph, node, inner);
  return true;
}

}  // namespace

bool simplify_views(Graph& graph) {
  bool changed = false;
  for (auto position = graph.nodes().begin(); position != graph.nodes().end();) {
    Node* node = (position++)->get();
    while (join_with_inner(graph, node)) changed = true;
    Value* same = same_value(*node);
    if (same == nullptr) continue;
    graph.replace_all_uses(node->result(), same);
    graph.erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
