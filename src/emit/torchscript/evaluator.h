// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace leapp::emit {

/// Runs one node whose tensor arguments are all constants; a graph::Evaluator. Results share the memory torch made for
/// them. nullopt when the node is random or torch cannot run it. Any thread.
/// REQUIRES: while a session records, the caller holds a capture::Suppress.
[[nodiscard]] std::optional<std::vector<graph::Constant>> evaluate(const graph::Node& node);

/// The same in float64: floating-point arguments are widened, and so are results. What torch computes in whole numbers
/// stays so.
[[nodiscard]] std::optional<std::vector<graph::Constant>> evaluate_wide(const graph::Node& node);

}  // namespace leapp::emit
