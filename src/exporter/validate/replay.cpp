// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/replay.h"

#include <utility>

namespace leapp::exporter {

GraphReplay::GraphReplay(const graph::Graph& graph, const Values& inputs, graph::Evaluator evaluate)
    : graph_(graph), evaluate_(std::move(evaluate)), next_(graph.nodes().begin()) {
  std::size_t index = 0;
  for (const auto& input : graph.inputs()) {
    if (index < inputs.size() && inputs[index]) values_.emplace(input.get(), *inputs[index]);
    ++index;
  }
  for (const auto& node : graph.nodes()) {
    for (const graph::Value* input : node->inputs()) ++uses_left_[input];
  }
  for (const graph::Output& output : graph.outputs()) ++uses_left_[output.value];
}

std::optional<graph::Constant> GraphReplay::value(const graph::Value* value) const {
  if (value->kind() == graph::ValueKind::kConstant) return value->constant();
  const auto found = values_.find(value);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<graph::Constant> GraphReplay::output(std::size_t index) const {
  return value(graph_.outputs()[index].value);
}

// The evaluator takes nodes whose operands are constants: a graph of this one operator has such.
std::optional<std::vector<graph::Constant>> GraphReplay::run(const graph::Node& node,
                                                             const graph::Evaluator& evaluate) const {
  graph::Graph alone;
  std::unordered_map<const graph::Value*, graph::Value*> copies;
  for (const graph::Value* input : node.inputs()) {
    const auto content = value(input);
    if (!content) return std::nullopt;
    if (!copies.contains(input)) copies.emplace(input, alone.add_constant(*content));
  }
  graph::NodeSpec spec{node.op(), node.overload(), node.arguments(), {}, node.location(), node.is_random(), {}};
  for (graph::Argument& argument : spec.arguments) {
    if (auto** one = std::get_if<graph::Value*>(&argument.value)) *one = copies.at(*one);
    auto* several = std::get_if<std::vector<graph::Value*>>(&argument.value);
    if (several == nullptr) continue;
    for (graph::Value*& one : *several) one = one == nullptr ? nullptr : copies.at(one);
  }
  for (const auto& result : node.results()) spec.results.push_back(result->type());
  return evaluate(*alone.append(std::move(spec)));
}

void GraphReplay::release(const graph::Node& node) {
  for (const graph::Value* input : node.inputs()) {
    if (--uses_left_[input] == 0) values_.erase(input);
  }
}

Values GraphReplay::step() {
  const graph::Node& node = **next_++;
  const auto results = run(node, evaluate_);
  Values values;
  for (std::size_t i = 0; i < node.results().size(); ++i) {
    const graph::Value* result = node.result(i);
    if (!results) {
      values.emplace_back();
      continue;
    }
    values.emplace_back((*results)[i]);
    if (uses_left_.contains(result)) values_.emplace(result, (*results)[i]);
  }
  release(node);
  return values;
}

}  // namespace leapp::exporter
