// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A node that runs a graph as often as data says:
//
//   %y: float32[2] = leapp::loop(count=%n, condition=%p, carried=[%x], operands=[%w], body=graph (%round: int64[],
//   %x: float32[2], %w: float32[2]) { ... return (0=%go_on, 1=%next) })
//
// There is another round while fewer than `count` have been run (None: whatever their number) and the condition holds:
// `condition` before the first, the body's first output before every other. The body takes the number of the round,
// what is carried from round to round and the operands, which stay the same; it gives the condition and what is carried
// on, of the same types. Results are what was carried out of the last round: what was carried in, if there was none.
// Constants that the body needs are its own. The node counts as random when an operator of the body does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/fold_constants.h"

namespace leapp::graph {

inline constexpr std::string_view kLoop = "leapp::loop";

struct LoopNode {
  Value* count = nullptr;      ///< int64, 0-d; null: nothing but the condition ends it
  Value* condition = nullptr;  ///< bool, 0-d
  std::vector<Value*> carried;
  std::vector<Value*> operands;
  GraphPtr body;
};

[[nodiscard]] inline bool is_loop(const Node& node) { return node.op() == kLoop; }

/// REQUIRES: is_loop(node), and the graph it is in verifies.
[[nodiscard]] LoopNode loop_of(const Node& node);

/// The node for it: results are of the types that are carried. REQUIRES: the body agrees.
[[nodiscard]] NodeSpec spec_of(LoopNode loop);

/// Whether nothing but the count ends it.
[[nodiscard]] bool is_counted(const LoopNode& loop);

/// What a loop whose operands are constants gives; nothing where `evaluate` cannot run one of its operators, or where
/// it takes more rounds than anybody wants to wait for.
[[nodiscard]] std::optional<std::vector<Constant>> run_loop(const Node& node, const Evaluator& evaluate);

}  // namespace leapp::graph
