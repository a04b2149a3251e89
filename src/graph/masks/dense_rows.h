// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// An operator whose result has a length that depends on data.
struct DataLength {
  std::string op;  ///< "aten::nonzero"
  SourceLocation where;
  std::int64_t length = 0;  ///< as recorded
  std::string why;       ///< it stays: what has no dense form. Empty: everything computed from it was written densely
  SourceLocation there;  ///< the operator that has none
};

/// Writes what is computed for the elements that a mask chooses (x[mask], mask.nonzero()) for all elements, so that
/// every shape is fixed: rows that were not chosen are computed too, and left out where rows come together (reductions)
/// or go back (index_put becomes where). FrameRows of which one operator has no such form stay as they are, all of
/// them. `found`, if given, says what became of every operator that it concerns, in their order. Requires: a graph that
/// verifies, with its views restored. Ensures: outputs hold the same numbers. Returns whether anything changed.
bool write_rows_densely(Graph& graph, std::vector<DataLength>* found = nullptr);

/// Whether there is an operator whose result has a length that depends on data.
[[nodiscard]] bool has_data_lengths(const Graph& graph);

/// For each output the operator that makes its shape depend on data, or nullptr.
[[nodiscard]] std::vector<const Node*> outputs_of_data_length(const Graph& graph);

}  // namespace leapp::graph
