// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph {

/// Whether the operator can fail, trap or give a result of another length for some values of its operands: an index
/// that is computed, an integer divided by a computed one, a matrix to be inverted. Operators whose shape alone decides
/// cannot, nor does a conditional: what it holds is guarded.
[[nodiscard]] bool can_fail(const Node& node);

/// About how many multiply-adds the operator costs: those it does, what it reads and makes, and the call itself. Of a
/// conditional: its larger side.
[[nodiscard]] double work_of(const Node& node);

}  // namespace leapp::graph
