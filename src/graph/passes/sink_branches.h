// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

struct SinkOptions {
  /// A side that costs more multiply-adds than this is worth a conditional, even if it cannot fail. ONNX Runtime takes
  /// a microsecond for that many, and for an If about what it takes for the Where instead
  /// (docs/design/conditionals.md).
  double costly = 20'000;
};

/// Where `aten::where` chooses by a 0-d condition that is computed, the operators that only one of its sides needs are
/// that side's own. Those of all wheres over one condition (or its negation) that share operators are taken together;
/// where they can fail (branch_cost.h) or are costly, these wheres become one conditional (conditional.h) and each
/// side's own operators move into it. Outer conditions come first, and what moved into a side is looked at again, so
/// that conditionals stand inside each other. The rest stays as it is: a graph without such wheres is not touched.
/// Requires: a graph that verifies, without dead code. Ensures: the same outputs wherever the graph did not fail.
/// Returns whether anything changed.
bool sink_branches(Graph& graph, const SinkOptions& options = {});

}  // namespace leapp::graph
