// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What belongs to the sides of a choice: the parts that sink_branches decides about.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// kBoth: needed on either side and nowhere else.
enum class Side : std::uint8_t { kNone, kThen, kElse, kBoth };

/// One `aten::where` over a 0-d condition.
struct Choice {
  Node* node = nullptr;
  bool swapped = false;  ///< it chooses by the negation of the group's condition

  /// What it gives when that side is taken: a tensor or a number.
  [[nodiscard]] const Attribute& value(Side side) const;
};

/// All choices over one condition, in the graph's order.
struct ChoiceGroup {
  Value* condition = nullptr;
  std::vector<Choice> choices;
};

/// The groups of the graph, the one whose last choice stands last first: it cannot be inside another's side.
[[nodiscard]] std::vector<ChoiceGroup> find_choices(const Graph& graph);

/// The operators that only the sides of these choices need. What both need counts only if it can fail, or reads what
/// does: each side gets its own, since what guards it may stand inside the sides.
class Cones {
 public:
  Cones(const Graph& graph, const std::vector<Choice>& choices);

  [[nodiscard]] Side side_of(const Node* node) const;
  /// It belongs to `side`, alone or to both.
  [[nodiscard]] bool is_in(const Node* node, Side side) const;
  /// The choice that this node is; nullptr for any other.
  [[nodiscard]] const Choice* choice(const Node* node) const;
  /// Some result of it is read by an operator of neither side, or is an output.
  [[nodiscard]] bool is_live(const Choice& choice) const;
  /// Choices that share operators, in the graph's order, with all operators of their sides.
  struct Component {
    std::vector<Choice> choices;
    std::vector<const Node*> operators;
  };
  [[nodiscard]] std::vector<Component> components() const;

 private:
  [[nodiscard]] Side side_of_use(const Value& value, const Node& user) const;
  [[nodiscard]] Side side_of_results(const Node& node) const;
  void drop_what_is_safe_on_both();

  const Graph& graph_;
  std::unordered_map<const Node*, Choice> choices_;
  std::unordered_map<const Node*, Side> sides_;
};

}  // namespace leapp::graph
