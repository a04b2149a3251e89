// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/inline_branches.h"

#include <utility>

#include "graph/conditional.h"

namespace leapp::graph {
namespace {

/// What stands for the outputs of the side.
std::vector<Value*> insert_side(Graph& graph, Node* position, const Graph& side, const std::vector<Value*>& operands) {
  ValueMap values;
  std::size_t index = 0;
  for (const auto& input : side.inputs()) values[input.get()] = operands[index++];
  for (const auto& node : side.nodes()) copy_node(*node, graph, position, values);
  std::vector<Value*> outputs;
  for (const Output& output : side.outputs()) outputs.push_back(copied_value(output.value, graph, values));
  return outputs;
}

void write_out(Graph& graph, Node* node) {
  const Conditional conditional = conditional_of(*node);
  const std::vector<Value*> then_values = insert_side(graph, node, *conditional.then_side, conditional.operands);
  const std::vector<Value*> else_values = insert_side(graph, node, *conditional.else_side, conditional.operands);
  std::vector<std::pair<Value*, std::string>> names;
  for (std::size_t i = 0; i < node->results().size(); ++i) {
    NodeSpec where{.op = "aten::where", .overload = "self", .arguments = {}, .results = {node->result(i)->type()}};
    where.arguments = {{"condition", conditional.condition}, {"self", then_values[i]}, {"other", else_values[i]}};
    where.location = node->location();
    Value* chosen = graph.insert_before(node, std::move(where))->result();
    graph.replace_all_uses(node->result(i), chosen);
    names.emplace_back(chosen, node->result(i)->name());
  }
  graph.erase(node);
  for (auto& [value, name] : names) graph.rename(value, std::move(name));
}

}  // namespace

bool inline_branches(Graph& graph) {
  bool changed = false;
  for (auto position = graph.nodes().begin(); position != graph.nodes().end();) {
    Node* node = position->get();
    if (!is_conditional(*node)) {
      ++position;
      continue;
    }
    // What it held stands in its place now, and may hold others.
    const bool first = position == graph.nodes().begin();
    const auto before = first ? position : std::prev(position);
    write_out(graph, node);
    position = first ? graph.nodes().begin() : std::next(before);
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
