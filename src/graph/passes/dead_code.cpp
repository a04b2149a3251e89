// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/dead_code.h"

#include <algorithm>
#include <utility>

#include "graph/conditional.h"
#include "graph/loop.h"

namespace leapp::graph {
namespace {

Value* input_at(const Graph& graph, std::size_t index) {
  return std::next(graph.inputs().begin(), static_cast<std::ptrdiff_t>(index))->get();
}

void replace(Graph& graph, Node* node, NodeSpec spec, const std::vector<std::size_t>& kept) {
  spec.location = node->location();
  Node* made = graph.insert_before(node, std::move(spec));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    names.push_back(node->result(kept[i])->name());
    graph.replace_all_uses(node->result(kept[i]), made->result(i));
  }
  graph.erase(node);
  for (std::size_t i = 0; i < kept.size(); ++i) graph.rename(made->result(i), names[i]);
}

bool trim_conditional(Graph& graph, Node* node) {
  Conditional conditional = conditional_of(*node);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < node->results().size(); ++i) {
    if (!node->result(i)->unused()) kept.push_back(i);
  }
  Graph then_side = clone(*conditional.then_side, kept);
  Graph else_side = clone(*conditional.else_side, kept);
  bool changed = kept.size() < node->results().size();
  changed = eliminate_dead_code(then_side) || changed;
  changed = eliminate_dead_code(else_side) || changed;
  for (std::size_t i = conditional.operands.size(); i-- > 0;) {
    Value* in_then = input_at(then_side, i);
    Value* in_else = input_at(else_side, i);
    if (!in_then->unused() || !in_else->unused()) continue;
    then_side.erase(in_then);
    else_side.erase(in_else);
    conditional.operands.erase(conditional.operands.begin() + static_cast<std::ptrdiff_t>(i));
    changed = true;
  }
  if (!changed) return false;
  conditional.then_side = std::make_shared<const Graph>(std::move(then_side));
  conditional.else_side = std::make_shared<const Graph>(std::move(else_side));
  replace(graph, node, spec_of(std::move(conditional)), kept);
  return true;
}

/// The body with what the slots `kept` need.
Graph trimmed_body(const LoopNode& loop, const std::vector<std::size_t>& kept) {
  std::vector<std::size_t> outputs{0};
  for (const std::size_t slot : kept) outputs.push_back(slot + 1);
  Graph body = clone(*loop.body, outputs);
  eliminate_dead_code(body);
  return body;
}

/// What is carried and read afterwards, or needed for that in a later round.
std::vector<std::size_t> needed_slots(const Node& node, const LoopNode& loop) {
  std::vector<bool> needed;
  for (const auto& result : node.results()) needed.push_back(!result->unused());
  for (;;) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) kept.push_back(i);
    }
    const Graph body = trimmed_body(loop, kept);
    bool more = false;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i] || input_at(body, i + 1)->unused()) continue;
      needed[i] = more = true;
    }
    if (!more) return kept;
  }
}

bool trim_loop(Graph& graph, Node* node) {
  LoopNode loop = loop_of(*node);
  const std::vector<std::size_t> kept = needed_slots(*node, loop);
  Graph body = trimmed_body(loop, kept);
  bool changed = kept.size() < loop.carried.size() || operator_count(body) < operator_count(*loop.body);
  const std::size_t slots = loop.carried.size();
  for (std::size_t i = loop.operands.size(); i-- > 0;) {
    Value* inside = input_at(body, 1 + slots + i);
    if (!inside->unused()) continue;
    body.erase(inside);
    loop.operands.erase(loop.operands.begin() + static_cast<std::ptrdiff_t>(i));
    changed = true;
  }
  if (!changed) return false;
  std::vector<Value*> carried;
  for (const std::size_t slot : kept) carried.push_back(loop.carried[slot]);
  for (std::size_t i = slots; i-- > 0;) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) body.erase(input_at(body, i + 1));
  }
  loop.carried = std::move(carried);
  loop.body = std::make_shared<const Graph>(std::move(body));
  replace(graph, node, spec_of(std::move(loop)), kept);
  return true;
}

}  // namespace

bool eliminate_dead_code(Graph& graph) {
  bool changed = false;
  // Users stand behind what they use, so one walk from the back is enough.
  for (auto position = graph.nodes().end(); position != graph.nodes().begin();) {
    Node* node = std::prev(position)->get();
    const auto is_unused = [](const std::unique_ptr<Value>& result) { return result->unused(); };
    if (std::all_of(node->results().begin(), node->results().end(), is_unused)) {
      graph.erase(node);
      changed = true;
    } else {
      // Either may replace the node, which is gone then.
      if (is_conditional(*node)) {
        changed = trim_conditional(graph, node) || changed;
      } else if (is_loop(*node)) {
        changed = trim_loop(graph, node) || changed;
      }
      --position;
    }
  }
  for (auto position = graph.constants().begin(); position != graph.constants().end();) {
    Value* constant = (position++)->get();
    if (!constant->unused()) continue;
    graph.erase(constant);
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
