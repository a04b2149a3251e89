// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/conditional.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "graph/loop.h"

namespace leapp::graph {
namespace {

using Contents = std::unordered_map<const Value*, Constant>;

std::optional<Constant> content_of(const Value* value, const Contents& contents) {
  if (value->kind() == ValueKind::kConstant) return value->constant();
  const auto found = contents.find(value);
  return found == contents.end() ? std::nullopt : std::optional(found->second);
}

// The evaluator takes nodes whose operands are constants: a graph of this one operator has such.
std::optional<std::vector<Constant>> run_node(const Node& node, const Contents& contents, const Evaluator& evaluate) {
  Graph alone;
  ValueMap values;
  for (const Value* operand : node.inputs()) {
    const auto content = content_of(operand, contents);
    if (!content) return std::nullopt;
    if (!values.contains(operand)) values.emplace(operand, alone.add_constant(*content));
  }
  const Node& copy = *copy_node(node, alone, nullptr, values);
  if (is_conditional(copy)) return run_conditional(copy, evaluate);
  return is_loop(copy) ? run_loop(copy, evaluate) : evaluate(copy);
}

}  // namespace

Conditional conditional_of(const Node& node) {
  assert(is_conditional(node));
  return {std::get<Value*>(*node.find("condition")), std::get<std::vector<Value*>>(*node.find("operands")),
          std::get<GraphPtr>(*node.find("then")), std::get<GraphPtr>(*node.find("else"))};
}

NodeSpec spec_of(Conditional conditional) {
  NodeSpec spec{.op = std::string(kConditional), .overload = "", .arguments = {}, .results = {}};
  for (const Output& output : conditional.then_side->outputs()) spec.results.push_back(output.value->type());
  spec.random = has_random(*conditional.then_side) || has_random(*conditional.else_side);
  spec.arguments.push_back({"condition", conditional.condition});
  spec.arguments.push_back({"operands", std::move(conditional.operands)});
  spec.arguments.push_back({"then", std::move(conditional.then_side)});
  spec.arguments.push_back({"else", std::move(conditional.else_side)});
  return spec;
}

std::vector<GraphPtr> graphs_of(const Node& node) {
  std::vector<GraphPtr> graphs;
  for (const Argument& argument : node.arguments()) {
    if (const auto* graph = std::get_if<GraphPtr>(&argument.value)) graphs.push_back(*graph);
  }
  return graphs;
}

void for_each_graph(const Graph& graph, const std::function<void(const Graph&)>& visit) {
  visit(graph);
  for (const auto& node : graph.nodes()) {
    for (const GraphPtr& inside : graphs_of(*node)) for_each_graph(*inside, visit);
  }
}

std::size_t operator_count(const Graph& graph) {
  std::size_t count = 0;
  for_each_graph(graph, [&](const Graph& each) {
    for (const auto& node : each.nodes()) count += graphs_of(*node).empty() ? 1 : 0;
  });
  return count;
}

bool has_random(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) { return node->is_random(); });
}

Value* copied_value(const Value* value, Graph& into, ValueMap& values) {
  if (const auto known = values.find(value); known != values.end()) return known->second;
  assert(value->kind() == ValueKind::kConstant);
  Value* there = into.find(value->name());
  const bool same =
      there != nullptr && there->kind() == ValueKind::kConstant && there->constant().same_content(value->constant());
  if (!same) there = into.add_constant(value->constant(), value->name());
  return values[value] = there;
}

Node* copy_node(const Node& node, Graph& into, Node* position, ValueMap& values) {
  NodeSpec spec{node.op(), node.overload(), node.arguments(), {}, node.location(), node.is_random(), {}};
  for (Argument& argument : spec.arguments) {
    if (auto** one = std::get_if<Value*>(&argument.value); one != nullptr && *one != nullptr) {
      *one = copied_value(*one, into, values);
    }
    auto* several = std::get_if<std::vector<Value*>>(&argument.value);
    if (several == nullptr) continue;
    for (Value*& one : *several) one = one == nullptr ? nullptr : copied_value(one, into, values);
  }
  for (const auto& result : node.results()) {
    spec.results.push_back(result->type());
    spec.result_names.push_back(result->name());
  }
  Node* copy = position == nullptr ? into.append(std::move(spec)) : into.insert_before(position, std::move(spec));
  for (std::size_t i = 0; i < node.results().size(); ++i) values[node.result(i)] = copy->result(i);
  return copy;
}

Graph clone(const Graph& graph) {
  std::vector<std::size_t> all(graph.outputs().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return clone(graph, all);
}

Graph clone(const Graph& graph, const std::vector<std::size_t>& outputs) {
  Graph copy(graph.name());
  ValueMap values;
  for (const auto& input : graph.inputs()) values[input.get()] = copy.add_input(input->name(), input->type());
  for (const auto& constant : graph.constants()) {
    values[constant.get()] = copy.add_constant(constant->constant(), constant->name());
  }
  for (const auto& node : graph.nodes()) copy_node(*node, copy, nullptr, values);
  for (const std::size_t i : outputs) copy.add_output(graph.outputs()[i].name, values.at(graph.outputs()[i].value));
  return copy;
}

std::optional<std::vector<Constant>> run_graph(const Graph& graph, const std::vector<Constant>& inputs,
                                               const Evaluator& evaluate) {
  Contents contents;
  std::size_t index = 0;
  for (const auto& input : graph.inputs()) contents.emplace(input.get(), inputs[index++]);
  for (const auto& node : graph.nodes()) {
    auto results = run_node(*node, contents, evaluate);
    if (!results) return std::nullopt;
    for (std::size_t i = 0; i < results->size(); ++i) contents.emplace(node->result(i), std::move((*results)[i]));
  }
  std::vector<Constant> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(*content_of(output.value, contents));
  return outputs;
}

std::optional<std::vector<Constant>> run_conditional(const Node& node, const Evaluator& evaluate) {
  const Conditional conditional = conditional_of(node);
  std::vector<Constant> operands;
  for (const Value* operand : conditional.operands) operands.push_back(operand->constant());
  const bool taken = conditional.condition->constant().bytes()[0] != std::byte{0};
  return run_graph(taken ? *conditional.then_side : *conditional.else_side, operands, evaluate);
}

}  // namespace leapp::graph
