// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::graph {

/// Checks what graph.h promises: values are defined before they are used and belong to this graph, users() agrees with
/// the arguments, names are unique, constants have the bytes their type asks for, geometry stays inside its storage, no
/// operator writes. kInternal with the first fault found: a graph that fails is a fault of whoever built it.
[[nodiscard]] Status verify(const Graph& graph);

}  // namespace leapp::graph
