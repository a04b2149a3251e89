// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/origins.h"

#include <algorithm>
#include <unordered_set>

namespace leapp::graph {

Origins::Origins(const Graph& graph) {
  for (const auto& node : graph.nodes()) position_.emplace(node.get(), position_.size());
}

const Elements& Origins::own(const Value* value) {
  const auto [at, added] = known_.try_emplace(value);
  if (added) {
    const std::int64_t count = element_count(value->shape());
    at->second.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) at->second.push_back({value, i});
  }
  return at->second;
}

namespace {

bool is_small(const Value* value) { return element_count(value->shape()) <= Origins::kMost; }

bool moves(const Value* value) {
  const Node* node = value->producer();
  if (node == nullptr || node->results().size() != 1 || !may_move(*node)) return false;
  const std::vector<Value*> operands = node->inputs();
  return is_small(value) && std::all_of(operands.begin(), operands.end(), is_small);
}

}  // namespace

// Those that have to be evaluated first, in the order of the graph.
std::vector<Node*> Origins::movers_above(const Value* value) const {
  std::vector<Node*> found;
  std::unordered_set<const Value*> seen{value};
  std::vector<const Value*> open{value};
  while (!open.empty()) {
    const Value* next = open.back();
    open.pop_back();
    if (known_.contains(next) || !moves(next)) continue;
    found.push_back(next->producer());
    for (const Value* operand : next->producer()->inputs()) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  std::sort(found.begin(), found.end(), [&](Node* a, Node* b) { return position_.at(a) < position_.at(b); });
  return found;
}

void Origins::evaluate(const Node& node) {
  for (const Value* operand : node.inputs()) own(operand);
  Elements result;
  if (moved(node, known_, result)) known_[node.result()] = std::move(result);
  own(node.result());
}

const Elements& Origins::of(const Value* value) {
  for (const Node* node : movers_above(value)) evaluate(*node);
  return own(value);
}

}  // namespace leapp::graph
