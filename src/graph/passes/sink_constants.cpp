// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/sink_constants.h"

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/conditional.h"
#include "graph/loop.h"

namespace leapp::graph {
namespace {

/// The graph with constants where inputs from `first` on are given such.
GraphPtr with_constants(const Graph& inner, std::size_t first, const std::vector<Value*>& operands) {
  Graph changed = clone(inner);
  auto input = std::next(changed.inputs().begin(), static_cast<std::ptrdiff_t>(first));
  for (const Value* operand : operands) {
    Value* given = (input++)->get();
    if (operand->kind() != ValueKind::kConstant) continue;
    changed.replace_all_uses(given, changed.add_constant(operand->constant(), operand->name()));
    changed.erase(given);
  }
  return std::make_shared<const Graph>(std::move(changed));
}

std::vector<Value*> without_constants(const std::vector<Value*>& operands) {
  std::vector<Value*> rest;
  for (Value* operand : operands) {
    if (operand->kind() != ValueKind::kConstant) rest.push_back(operand);
  }
  return rest;
}

NodeSpec sunk(const Node& node) {
  if (is_loop(node)) {
    LoopNode loop = loop_of(node);
    loop.body = with_constants(*loop.body, 1 + loop.carried.size(), loop.operands);
    loop.operands = without_constants(loop.operands);
    return spec_of(std::move(loop));
  }
  Conditional conditional = conditional_of(node);
  conditional.then_side = with_constants(*conditional.then_side, 0, conditional.operands);
  conditional.else_side = with_constants(*conditional.else_side, 0, conditional.operands);
  conditional.operands = without_constants(conditional.operands);
  return spec_of(std::move(conditional));
}

bool takes_constants(const Node& node) {
  if (!is_loop(node) && !is_conditional(node)) return false;
  const auto& operands = std::get<std::vector<Value*>>(*node.find("operands"));
  return without_constants(operands).size() < operands.size();
}

void put_in_place(Graph& graph, Node* node, NodeSpec spec) {
  spec.location = node->location();
  Node* made = graph.insert_before(node, std::move(spec));
  std::vector<std::string> names;
  for (const auto& result : node->results()) {
    names.push_back(result->name());
    graph.replace_all_uses(result.get(), made->result(result->result_index()));
  }
  graph.erase(node);
  for (std::size_t i = 0; i < names.size(); ++i) graph.rename(made->result(i), std::move(names[i]));
}

}  // namespace

bool sink_constants(Graph& graph) {
  bool changed = false;
  for (auto position = graph.nodes().begin(); position != graph.nodes().end();) {
    Node* node = (position++)->get();
    if (!takes_constants(*node)) continue;
    put_in_place(graph, node, sunk(*node));
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
