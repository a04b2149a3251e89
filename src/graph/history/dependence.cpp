// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/dependence.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "graph/conditional.h"

namespace leapp::graph {
namespace {

// Values with more elements are looked at as a whole.
constexpr std::int64_t kMostByElement = 65536;

void merge(Dependence& into, const Dependence& from) {
  into.inputs.insert(from.inputs.begin(), from.inputs.end());
  into.weighted = into.weighted || from.weighted;
}

bool is_product(const Node& node) {
  static constexpr std::array<std::string_view, 20> kOps{
      "aten::addbmm", "aten::addmm",     "aten::addmv",  "aten::baddbmm",  "aten::bilinear",
      "aten::bmm",    "aten::conv1d",    "aten::conv2d", "aten::conv3d",   "aten::convolution",
      "aten::einsum", "aten::embedding", "aten::gru",    "aten::linear",   "aten::lstm",
      "aten::matmul", "aten::mm",        "aten::mv",     "aten::rnn_tanh", "aten::scaled_dot_product_attention"};
  return std::find(kOps.begin(), kOps.end(), node.op()) != kOps.end();
}

bool meets_weights(const Node& node) {
  for (const GraphPtr& inside : graphs_of(node)) {
    const auto& nodes = inside->nodes();
    if (std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return meets_weights(*n); })) return true;
  }
  for (const Value* operand : node.inputs()) {
    if (operand->kind() != ValueKind::kConstant) continue;
    if (operand->constant().parameter || is_product(node)) return true;
  }
  return false;
}

// Every node that `value` depends on, in the order of the graph when they are sorted by it.
std::vector<const Node*> ancestors(const Value* value) {
  std::vector<const Node*> found;
  std::unordered_set<const Node*> seen;
  std::vector<const Value*> open{value};
  while (!open.empty()) {
    const Node* node = open.back()->producer();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    found.push_back(node);
    for (const Value* operand : node->inputs()) open.push_back(operand);
  }
  return found;
}

}  // namespace

PipelineOrigins::PipelineOrigins(const Stages& stages)
    : stages_(stages), inputs_(stages.size()), facts_(stages.size()) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Graph* graph = stages[i].graph;
    origins_.push_back(graph == nullptr ? nullptr : std::make_unique<Origins>(*graph));
    for (std::size_t k = 0; graph != nullptr && k < stages[i].inputs.size(); ++k) {
      for (const auto& value : graph->inputs()) {
        if (value->name() == stages[i].inputs[k].name) inputs_[i][value.get()] = k;
      }
    }
  }
}

std::optional<StagePort> PipelineOrigins::input_of(const PipelineElement& element) const {
  if (element.value == nullptr) return std::nullopt;
  const auto& inputs = inputs_[element.stage];
  const auto found = inputs.find(element.value);
  return found == inputs.end() ? std::nullopt : std::optional(StagePort{element.stage, found->second});
}

void PipelineOrigins::add(std::size_t stage, const Element& element, PipelineElements& result) {
  if (element.value == nullptr || element.value->kind() == ValueKind::kConstant) {
    result.push_back({.stage = stage, .value = element.value, .index = element.index, .constant = true});
    return;
  }
  const PipelineElement here{.stage = stage, .value = element.value, .index = element.index};
  if (const auto at = input_of(here)) {
    const StageInput& input = stages_[stage].inputs[at->port];
    if (input.from == StageInput::From::kSameStep && element_count(input.type.shape) <= Origins::kMost) {
      const PipelineElements& source = of(input.source);
      result.push_back(source[static_cast<std::size_t>(element.index)]);
      return;
    }
  }
  result.push_back(here);
}

const PipelineElements& PipelineOrigins::of(StagePort output) {
  if (const auto found = outputs_.find(output); found != outputs_.end()) return found->second;
  const Stage& stage = stages_[output.stage];
  PipelineElements result;
  if (stage.graph == nullptr) {
    const std::int64_t count = element_count(stage.outputs[output.port].shape);
    for (std::int64_t i = 0; i < count; ++i) {
      result.push_back({.stage = output.stage, .index = i, .output = static_cast<std::int64_t>(output.port)});
    }
  } else {
    const Value* value = stage.graph->outputs()[output.port].value;
    for (const Element& element : origins_[output.stage]->of(value)) add(output.stage, element, result);
  }
  return outputs_.emplace(output, std::move(result)).first->second;
}

Dependence PipelineOrigins::of_output(StagePort output) {
  const Stage& stage = stages_[output.stage];
  if (stage.graph != nullptr) return of_value(output.stage, stage.graph->outputs()[output.port].value);
  Dependence all{.inputs = {}, .weighted = true};
  for (std::size_t i = 0; i < stage.inputs.size(); ++i) merge(all, of_input({output.stage, i}));
  return all;
}

Dependence PipelineOrigins::of_input(StagePort input) {
  const StageInput& port = stages_[input.stage].inputs[input.port];
  if (port.from == StageInput::From::kSameStep) return of_output(port.source);
  return {.inputs = {input}, .weighted = false};
}

Dependence PipelineOrigins::of_leaf(std::size_t stage, const Value* value) {
  const auto found = inputs_[stage].find(value);
  return found == inputs_[stage].end() ? Dependence() : of_input({stage, found->second});
}

Dependence PipelineOrigins::of_node(std::size_t stage, const Node& node, const Facts& known) {
  Dependence all{.inputs = {}, .weighted = meets_weights(node)};
  const auto add = [&](const Value* value) {
    const auto found = known.find(value);
    merge(all, found != known.end() ? found->second : of_leaf(stage, value));
  };
  const bool by_element =
      node.results().size() == 1 && may_move(node) && element_count(node.result()->shape()) <= kMostByElement;
  if (!by_element) {
    for (const Value* operand : node.inputs()) add(operand);
    return all;
  }
  const Value* last = nullptr;
  for (const Element& element : origins_[stage]->of(node.result())) {
    if (element.value == last || element.value == nullptr) continue;
    last = element.value;
    if (last != node.result()) {
      add(last);
      continue;
    }
    for (const Value* operand : node.inputs()) add(operand);  // it does more than to move them
  }
  return all;
}

const Dependence& PipelineOrigins::of_value(std::size_t stage, const Value* value) {
  Facts& known = facts_[stage];
  if (const auto found = known.find(value); found != known.end()) return found->second;
  if (value->producer() == nullptr) return known.emplace(value, of_leaf(stage, value)).first->second;
  std::unordered_set<const Node*> wanted;
  for (const Node* node : ancestors(value)) wanted.insert(node);
  for (const auto& node : stages_[stage].graph->nodes()) {
    if (!wanted.contains(node.get()) || known.contains(node->result())) continue;
    const Dependence found = of_node(stage, *node, known);
    for (const auto& result : node->results()) known.emplace(result.get(), found);
  }
  return known.at(value);
}

Dependence PipelineOrigins::dependence(const PipelineElement& element) {
  if (element.constant) return {};
  if (element.value == nullptr) return of_output({element.stage, static_cast<std::size_t>(element.output)});
  return of_value(element.stage, element.value);
}

}  // namespace leapp::graph
