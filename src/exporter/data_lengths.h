// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/log.h"
#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::exporter {

/// Writes what has a length that depends on data with a fixed one, where that can be done, and warns with the line and
/// the reason where it cannot. kInvalidArgument: such a length is that of an output.
/// `calls`: how many of the node were recorded. After only one, a number may be such a length or not.
[[nodiscard]] Status fix_lengths(graph::Graph& graph, std::size_t calls, Logger& log);

}  // namespace leapp::exporter
