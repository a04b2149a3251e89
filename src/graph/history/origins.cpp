// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/origins.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

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
  if (node == nullptr || !may_move(*node)) return false;
  const std::vector<Value*> operands = node->inputs();
  return is_small(value) && std::all_of(operands.begin(), operands.end(), is_small);
}

}  // namespace

// Those that have to be evaluated first, in the order of the graph.
std::vector<const Value*> Origins::moved_above(const Value* value) const {
  std::vector<const Value*> found;
  std::unordered_set<const Value*> seen{value};
  std::vector<const Value*> open{value};
  while (!open.empty()) {
    const Value* next = open.back();
    open.pop_back();
    if (known_.contains(next) || !moves(next)) continue;
    found.push_back(next);
    for (const Value* operand : next->producer()->inputs()) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  std::sort(found.begin(), found.end(), [&](const Value* a, const Value* b) {
    return std::pair(position_.at(a->producer()), a->result_index()) <
           std::pair(position_.at(b->producer()), b->result_index());
  });
  return found;
}

void Origins::evaluate(const Value* value) {
  for (const Value* operand : value->producer()->inputs()) own(operand);
  Elements result;
  if (moved(*value, known_, result)) known_[value] = std::move(result);
  own(value);
}

const Elements& Origins::of(const Value* value) {
  for (const Value* next : moved_above(value)) evaluate(next);
  return own(value);
}

}  // namespace leapp::graph
