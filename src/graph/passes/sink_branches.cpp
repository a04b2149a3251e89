// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/sink_branches.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "graph/conditional.h"
#include "graph/passes/branch_cones.h"
#include "graph/passes/branch_cost.h"
#include "graph/passes/dead_code.h"

namespace leapp::graph {
namespace {

using Choices = std::vector<Choice>;

Value* as_value(const Attribute& attribute) {
  auto* const* value = std::get_if<Value*>(&attribute);
  return value == nullptr ? nullptr : *value;
}

bool is_worth_it(const Cones& cones, const Cones::Component& component, const SinkOptions& options) {
  double then_work = 0;
  double else_work = 0;
  for (const Node* node : component.operators) {
    if (cones.side_of(node) == Side::kBoth) continue;  // runs whichever is taken
    if (can_fail(*node)) return true;
    (cones.side_of(node) == Side::kThen ? then_work : else_work) += work_of(*node);
  }
  return std::max(then_work, else_work) > options.costly;
}

/// Of these choices, those that a conditional should make.
Choices worthwhile(const Graph& graph, const Choices& choices, const SinkOptions& options) {
  const Cones cones(graph, choices);
  std::unordered_set<const Node*> picked;
  for (const Cones::Component& component : cones.components()) {
    if (!is_worth_it(cones, component, options)) continue;
    for (const Choice& choice : component.choices) picked.insert(choice.node);
  }
  Choices result;
  std::copy_if(choices.begin(), choices.end(), std::back_inserter(result),
               [&](const Choice& choice) { return picked.contains(choice.node); });
  return result;
}

/// One side of a conditional to be.
class SideBuilder {
 public:
  SideBuilder(const Graph& graph, const Cones& cones, Side side) : graph_(graph), cones_(cones), side_(side) {
    for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) need(**node);
  }

  /// Appends what the side reads of the graph around it.
  void add_operands(std::vector<Value*>& operands) const {
    const auto add = [&](Value* value) {
      if (value == nullptr || value->kind() == ValueKind::kConstant || is_inside(*value)) return;
      if (std::find(operands.begin(), operands.end(), value) == operands.end()) operands.push_back(value);
    };
    for (const auto& node : graph_.nodes()) {
      if (!needed_.contains(node.get())) continue;
      if (const Choice* choice = cones_.choice(node.get())) {
        add(as_value(choice->value(side_)));
      } else {
        for (Value* value : node->inputs()) add(value);
      }
    }
  }

  [[nodiscard]] Graph build(const std::vector<Value*>& operands) const {
    Graph side;
    ValueMap values;
    for (const Value* operand : operands) values[operand] = side.add_input(operand->name(), operand->type());
    for (const auto& node : graph_.nodes()) {
      if (!needed_.contains(node.get())) continue;
      const Choice* choice = cones_.choice(node.get());
      if (choice == nullptr) {
        copy_node(*node, side, nullptr, values);
        continue;
      }
      Value* chosen = converted(*choice, side, values);
      values[node->result()] = chosen;
      if (cones_.is_live(*choice)) side.add_output(std::to_string(side.outputs().size()), chosen);
    }
    return side;
  }

 private:
  [[nodiscard]] bool is_inside(const Value& value) const {
    return value.producer() != nullptr &&
           (cones_.choice(value.producer()) != nullptr || cones_.is_in(value.producer(), side_));
  }

  void need(const Node& node) {
    const Choice* choice = cones_.choice(&node);
    const auto is_wanted = [&](const auto& result) { return wanted_.contains(result.get()); };
    const bool wanted = std::any_of(node.results().begin(), node.results().end(), is_wanted);
    if (!wanted && (choice == nullptr || !cones_.is_live(*choice))) return;
    if (choice == nullptr && !cones_.is_in(&node, side_)) return;
    needed_.insert(&node);
    if (choice != nullptr) {
      if (const Value* value = as_value(choice->value(side_))) wanted_.insert(value);
    } else {
      for (const Value* value : node.inputs()) wanted_.insert(value);
    }
  }

  /// What the choice gives on this side, of the type of its result.
  [[nodiscard]] Value* converted(const Choice& choice, Graph& side, ValueMap& values) const {
    const TensorType& type = choice.node->result()->type();
    const auto append = [&](std::string op, std::string overload, std::vector<Argument> arguments, TensorType result) {
      return side
          .append({std::move(op),
                   std::move(overload),
                   std::move(arguments),
                   {std::move(result)},
                   choice.node->location(),
                   false,
                   {}})
          ->result();
    };
    const Attribute& chosen = choice.value(side_);
    const Value* original = as_value(chosen);
    if (original == nullptr) {
      return append("aten::full", "",
                    {{"size", type.shape},
                     {"fill_value", chosen},
                     {"dtype", type.dtype},
                     {"layout", Attribute()},
                     {"device", Attribute()},
                     {"pin_memory", Attribute()}},
                    type);
    }
    Value* value = copied_value(original, side, values);
    if (value->dtype() != type.dtype) {
      value = append("aten::to", "dtype",
                     {{"self", value},
                      {"dtype", type.dtype},
                      {"non_blocking", false},
                      {"copy", false},
                      {"memory_format", Attribute()}},
                     {type.dtype, value->shape()});
    }
    if (value->shape() == type.shape) return value;
    return append("aten::expand", "", {{"self", value}, {"size", type.shape}, {"implicit", false}}, type);
  }

  const Graph& graph_;
  const Cones& cones_;
  Side side_;
  std::unordered_set<const Node*> needed_;
  std::unordered_set<const Value*> wanted_;
};

/// Operators outside the sides that read what the choices give, and whether a side reads such a one in turn.
struct Readers {
  std::vector<Node*> nodes;
  bool in_a_circle = false;
};

Readers readers_of(const Graph& graph, const Cones& cones) {
  Readers readers;
  std::unordered_set<const Node*> reads;
  for (const auto& node : graph.nodes()) {
    const bool inside = cones.choice(node.get()) != nullptr || cones.side_of(node.get()) != Side::kNone;
    bool reader = false;
    for (const Value* value : node->inputs()) {
      const Node* producer = value->producer();
      if (producer == nullptr) continue;
      reader = reader || reads.contains(producer) || (!inside && cones.choice(producer) != nullptr);
    }
    if (!reader) continue;
    if (inside) readers.in_a_circle = true;
    reads.insert(node.get());
    readers.nodes.push_back(node.get());
  }
  return readers;
}

/// The choices that do not depend on another one of them.
Choices independent(const Graph& graph, const Choices& choices) {
  std::unordered_set<const Node*> dependent;
  std::unordered_set<const Node*> all;
  for (const Choice& choice : choices) all.insert(choice.node);
  for (const auto& node : graph.nodes()) {
    for (const Value* value : node->inputs()) {
      const Node* producer = value->producer();
      if (producer != nullptr && (all.contains(producer) || dependent.contains(producer))) dependent.insert(node.get());
    }
  }
  Choices first;
  std::copy_if(choices.begin(), choices.end(), std::back_inserter(first),
               [&](const Choice& choice) { return !dependent.contains(choice.node); });
  return first;
}

/// What reads the choices and stands before the last of them goes behind it: there the conditional will be.
void make_room(Graph& graph, const std::vector<Node*>& readers, const Node* last) {
  std::unordered_set<const Node*> moving(readers.begin(), readers.end());
  auto position = graph.nodes().begin();
  std::vector<Node*> moved;
  for (; position->get() != last; ++position) {
    if (moving.contains(position->get())) moved.push_back(position->get());
  }
  ++position;
  Node* behind = position == graph.nodes().end() ? nullptr : position->get();
  for (Node* node : moved) graph.move_before(node, behind);
}

Conditional conditional_over(const Graph& graph, Value* condition, const Cones& cones, const SinkOptions& options) {
  const SideBuilder then_builder(graph, cones, Side::kThen);
  const SideBuilder else_builder(graph, cones, Side::kElse);
  Conditional made{condition, {}, nullptr, nullptr};
  then_builder.add_operands(made.operands);
  else_builder.add_operands(made.operands);
  Graph then_side = then_builder.build(made.operands);
  Graph else_side = else_builder.build(made.operands);
  sink_branches(then_side, options);
  sink_branches(else_side, options);
  made.then_side = std::make_shared<const Graph>(std::move(then_side));
  made.else_side = std::make_shared<const Graph>(std::move(else_side));
  return made;
}

void replace(Graph& graph, Value* condition, const Choices& choices, const Cones& cones, const SinkOptions& options) {
  Node* last = choices.back().node;
  NodeSpec spec = spec_of(conditional_over(graph, condition, cones, options));
  spec.location = last->location();
  Node* made = graph.insert_before(last, std::move(spec));
  std::vector<Value*> live;
  std::vector<std::string> names;
  for (const Choice& choice : choices) {
    if (!cones.is_live(choice)) continue;
    live.push_back(choice.node->result());
    names.push_back(live.back()->name());
  }
  for (std::size_t i = 0; i < live.size(); ++i) graph.replace_all_uses(live[i], made->result(i));
  for (auto position = graph.nodes().end(); position != graph.nodes().begin();) {
    Node* node = std::prev(position)->get();
    if (cones.choice(node) != nullptr || cones.side_of(node) != Side::kNone) {
      graph.erase(node);
    } else {
      --position;
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) graph.rename(made->result(i), names[i]);
}

bool sink(Graph& graph, Value* condition, const Choices& candidates, const SinkOptions& options) {
  const Choices choices = worthwhile(graph, candidates, options);
  if (choices.empty()) return false;
  const Cones cones(graph, choices);
  const Readers readers = readers_of(graph, cones);
  if (!readers.in_a_circle) {
    make_room(graph, readers.nodes, choices.back().node);
    replace(graph, condition, choices, cones, options);
    return true;
  }
  const Choices first = independent(graph, choices);
  Choices rest;
  for (const Choice& choice : choices) {
    const auto same = [&](const Choice& other) { return other.node == choice.node; };
    if (std::none_of(first.begin(), first.end(), same)) rest.push_back(choice);
  }
  // None of the rest can be an operator of a side of these, so they stay where they are meanwhile.
  const bool changed = sink(graph, condition, first, options);
  return sink(graph, condition, rest, options) || changed;
}

}  // namespace

bool sink_branches(Graph& graph, const SinkOptions& options) {
  bool changed = false;
  std::set<std::string> done;
  while (true) {
    const std::vector<ChoiceGroup> groups = find_choices(graph);
    const auto next = std::find_if(groups.begin(), groups.end(), [&](const ChoiceGroup& group) {
      return done.insert(group.condition->name()).second;
    });
    if (next == groups.end()) break;
    if (!sink(graph, next->condition, next->choices, options)) continue;
    // What nobody reads any more may have been the only thing that kept an operator out of a side.
    eliminate_dead_code(graph);
    done.clear();
    changed = true;
  }
  return changed;
}

}  // namespace leapp::graph
