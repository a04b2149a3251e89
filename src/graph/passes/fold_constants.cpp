// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fold_constants.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "graph/names.h"

namespace leapp::graph {
namespace {

std::size_t byte_size(const TensorType& type) { return Constant{type, nullptr}.byte_size(); }

bool is_foldable(const Node& node, const FoldOptions& options) {
  if (node.is_random() || node.results().empty()) return false;
  std::size_t read = 0;
  std::unordered_set<const Value*> seen;
  for (const Value* input : node.inputs()) {
    if (input->kind() != ValueKind::kConstant) return false;
    if (seen.insert(input).second) read += byte_size(input->type());
  }
  std::size_t made = 0;
  bool empty = true;
  for (const auto& result : node.results()) {
    made += byte_size(result->type());
    empty = empty && element_count(result->shape()) == 0;
  }
  if (empty && options.keep_empty) return false;
  return made <= std::max(options.max_bytes, read);
}

// The name somebody gave the result; else, where the node works on one named constant, that name and the operator's:
// "actor.0.weight_t".
std::string folded_name(const Node& node, const Value& result) {
  if (!is_automatic_name(result.name())) return result.name();
  const Value* base = nullptr;
  for (const Value* input : node.inputs()) {
    if (is_automatic_name(input->name()) || input == base) continue;
    if (base != nullptr) return "";
    base = input;
  }
  if (base == nullptr) return "";
  const std::string_view op = node.op();
  const std::size_t colons = op.rfind(':');
  return base->name() + "_" + std::string(op.substr(colons == std::string_view::npos ? 0 : colons + 1));
}

bool matches(const Node& node, const std::vector<Constant>& values) {
  if (values.size() != node.results().size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].type != node.result(i)->type()) return false;
  }
  return true;
}

void replace_by_constants(Graph& graph, Node* node, std::vector<Constant> values) {
  std::vector<std::pair<Value*, std::string>> wishes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Value* result = node->result(i);
    if (result->unused()) continue;
    std::string wish = folded_name(*node, *result);
    Value* constant = graph.add_constant(std::move(values[i]));
    graph.replace_all_uses(result, constant);
    if (!wish.empty()) wishes.emplace_back(constant, std::move(wish));
  }
  // Only now are the names of the results free.
  graph.erase(node);
  for (auto& [constant, wish] : wishes) graph.rename(constant, std::move(wish));
}

}  // namespace

bool fold_constants(Graph& graph, const Evaluator& evaluate, const FoldOptions& options) {
  bool changed = false;
  for (auto position = graph.nodes().begin(); position != graph.nodes().end();) {
    Node* node = (position++)->get();
    if (!is_foldable(*node, options)) continue;
    auto values = evaluate(*node);
    // An evaluator that does not reproduce what was recorded is not to be trusted with this node.
    if (!values || !matches(*node, *values)) continue;
    replace_by_constants(graph, node, std::move(*values));
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
