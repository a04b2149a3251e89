// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/branch_cones.h"

#include <algorithm>
#include <utility>

#include "graph/passes/branch_cost.h"

namespace leapp::graph {
namespace {

const TensorType kTruth{DType::kBool, {}};

// Walks over negations down to what is negated.
std::pair<Value*, bool> root_of(Value* condition) {
  bool swapped = false;
  while (const Node* node = condition->producer()) {
    if (node->op() != "aten::logical_not" && node->op() != "aten::bitwise_not") break;
    const auto* negated = std::get_if<Value*>(&node->arguments().front().value);
    if (negated == nullptr || (*negated)->type() != kTruth) break;
    condition = *negated;
    swapped = !swapped;
  }
  return {condition, swapped};
}

Value* chosen_by(const Node& node) {
  if (node.op() != "aten::where" || node.results().size() != 1) return nullptr;
  if (node.find("self") == nullptr || node.find("other") == nullptr) return nullptr;
  const Attribute* condition = node.find("condition");
  const auto* value = condition == nullptr ? nullptr : std::get_if<Value*>(condition);
  return value == nullptr || (*value)->type() != kTruth ? nullptr : *value;
}

bool is_value(const Attribute& attribute, const Value* value) {
  const auto* held = std::get_if<Value*>(&attribute);
  return held != nullptr && *held == value;
}

}  // namespace

const Attribute& Choice::value(Side side) const {
  return *node->find((side == Side::kThen) != swapped ? "self" : "other");
}

std::vector<ChoiceGroup> find_choices(const Graph& graph) {
  std::vector<ChoiceGroup> groups;
  std::unordered_map<const Value*, std::size_t> known;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    Value* by = chosen_by(**node);
    if (by == nullptr) continue;
    const auto [condition, swapped] = root_of(by);
    if (condition->kind() == ValueKind::kConstant) continue;
    const auto [place, fresh] = known.try_emplace(condition, groups.size());
    if (fresh) groups.push_back({condition, {}});
    groups[place->second].choices.push_back({node->get(), swapped});
  }
  for (ChoiceGroup& group : groups) std::reverse(group.choices.begin(), group.choices.end());
  return groups;
}

Cones::Cones(const Graph& graph, const std::vector<Choice>& choices) : graph_(graph) {
  for (const Choice& choice : choices) choices_.emplace(choice.node, choice);
  // Users stand behind what they use: from the back, their sides are known.
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (choice(node->get()) != nullptr) continue;
    if (const Side side = side_of_results(**node); side != Side::kNone) sides_.emplace(node->get(), side);
  }
  drop_what_is_safe_on_both();
}

void Cones::drop_what_is_safe_on_both() {
  for (const auto& node : graph_.nodes()) {
    if (side_of(node.get()) != Side::kBoth || can_fail(*node)) continue;
    const std::vector<Value*> inputs = node->inputs();
    const bool kept = std::any_of(inputs.begin(), inputs.end(), [&](const Value* value) {
      return value->producer() != nullptr && side_of(value->producer()) == Side::kBoth;
    });
    if (!kept) sides_.erase(node.get());
  }
}

Side Cones::side_of(const Node* node) const {
  const auto found = sides_.find(node);
  return found == sides_.end() ? Side::kNone : found->second;
}

bool Cones::is_in(const Node* node, Side side) const {
  const Side found = side_of(node);
  return found == side || found == Side::kBoth;
}

const Choice* Cones::choice(const Node* node) const {
  const auto found = choices_.find(node);
  return found == choices_.end() ? nullptr : &found->second;
}

Side Cones::side_of_use(const Value& value, const Node& user) const {
  const Choice* chooser = choice(&user);
  if (chooser == nullptr) return side_of(&user);
  const bool in_then = is_value(chooser->value(Side::kThen), &value);
  const bool in_else = is_value(chooser->value(Side::kElse), &value);
  if (is_value(*user.find("condition"), &value)) return Side::kNone;
  if (in_then && in_else) return Side::kBoth;
  return in_then ? Side::kThen : Side::kElse;
}

Side Cones::side_of_results(const Node& node) const {
  Side side = Side::kNone;
  for (const auto& result : node.results()) {
    if (result->is_output()) return Side::kNone;
    for (const Node* user : result->users()) {
      const Side use = side_of_use(*result, *user);
      if (use == Side::kNone) return Side::kNone;
      side = side == Side::kNone || side == use ? use : Side::kBoth;
    }
  }
  return side;
}

bool Cones::is_live(const Choice& choice) const {
  const Value& result = *choice.node->result();
  return result.is_output() || std::any_of(result.users().begin(), result.users().end(), [&](const Node* user) {
           return side_of(user) == Side::kNone && this->choice(user) == nullptr;
         });
}

std::vector<Cones::Component> Cones::components() const {
  std::unordered_map<const Node*, const Node*> parents;
  const auto root = [&](const Node* node) {
    while (parents.contains(node)) node = parents.at(node);
    return node;
  };
  const auto join = [&](const Node* one, const Node* other) {
    const Node* first = root(one);
    const Node* second = root(other);
    if (first != second) parents.emplace(first, second);
  };
  const auto takes_part = [&](const Node* node) { return choice(node) != nullptr || side_of(node) != Side::kNone; };
  // From the back, so that what joins has a short way to its root.
  for (auto node = graph_.nodes().rbegin(); node != graph_.nodes().rend(); ++node) {
    if (!takes_part(node->get())) continue;
    for (const auto& result : (*node)->results()) {
      for (const Node* user : result->users()) {
        if (takes_part(user)) join(node->get(), user);
      }
    }
  }
  std::vector<Component> found;
  std::unordered_map<const Node*, std::size_t> places;
  for (const auto& node : graph_.nodes()) {
    if (!takes_part(node.get())) continue;
    const auto [place, fresh] = places.try_emplace(root(node.get()), found.size());
    if (fresh) found.emplace_back();
    if (const Choice* chooser = choice(node.get())) {
      found[place->second].choices.push_back(*chooser);
    } else {
      found[place->second].operators.push_back(node.get());
    }
  }
  return found;
}

}  // namespace leapp::graph
