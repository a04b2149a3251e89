// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A node that runs one of two sides:
//
//   %y: float32[2] = leapp::if(condition=%p, operands=[%x], then=graph (%x: float32[2]) { ... }, else=graph ... { ...
//   })
//
// Both sides have one input for each of the operands and one output for each result, in order and of the same types.
// Constants that a side needs are its own, over the same bytes. The side that is not taken does not run: it may hold
// operators that would fail. The node counts as random when an operator of either side does.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/fold_constants.h"

namespace leapp::graph {

inline constexpr std::string_view kConditional = "leapp::if";

struct Conditional {
  Value* condition = nullptr;  ///< bool, 0-d
  std::vector<Value*> operands;
  GraphPtr then_side;
  GraphPtr else_side;
};

[[nodiscard]] inline bool is_conditional(const Node& node) { return node.op() == kConditional; }

/// REQUIRES: is_conditional(node), and the graph it is in verifies.
[[nodiscard]] Conditional conditional_of(const Node& node);

/// The node for it: results, and whether it is random, are those of its sides. REQUIRES: the sides agree.
[[nodiscard]] NodeSpec spec_of(Conditional conditional);

/// Those inside a conditional or a loop (loop.h); none: it is an operator.
[[nodiscard]] std::vector<GraphPtr> graphs_of(const Node& node);

/// The graph and all graphs inside it, each before those inside it.
void for_each_graph(const Graph& graph, const std::function<void(const Graph&)>& visit);

/// Of the graph and all graphs inside it; conditionals and loops are not counted themselves.
[[nodiscard]] std::size_t operator_count(const Graph& graph);

/// Whether an operator of the graph is random, conditionals and loops looked into.
[[nodiscard]] bool has_random(const Graph& graph);

/// What values of one graph are in another.
using ValueMap = std::unordered_map<const Value*, Value*>;

/// Copies `node` of another graph before `position` (nullptr: to the end) and enters its results into `values`.
/// Constants are copied when they are first met, or are those `into` has under the same name with the same content.
/// REQUIRES: `values` has every other operand.
Node* copy_node(const Node& node, Graph& into, Node* position, ValueMap& values);

/// What stands for `value` in `into`: found in `values`, or a constant that is copied.
Value* copied_value(const Value* value, Graph& into, ValueMap& values);

[[nodiscard]] Graph clone(const Graph& graph);
/// With these outputs only; what the others need is there, dead.
[[nodiscard]] Graph clone(const Graph& graph, const std::vector<std::size_t>& outputs);

/// The outputs of the graph for these inputs; nothing where `evaluate` cannot run one of its operators. Of a
/// conditional it runs the side that is taken, of a loop (loop.h) as many rounds as there are.
[[nodiscard]] std::optional<std::vector<Constant>> run_graph(const Graph& graph, const std::vector<Constant>& inputs,
                                                             const Evaluator& evaluate);

/// The same for one conditional whose condition and operands are constants.
[[nodiscard]] std::optional<std::vector<Constant>> run_conditional(const Node& node, const Evaluator& evaluate);

}  // namespace leapp::graph
