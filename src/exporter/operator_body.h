// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::exporter {

/// What the body of a node takes: its tensor operands that are no constants, each once, in the order of first use.
[[nodiscard]] std::vector<graph::Value*> body_operands(const graph::Node& node);

/// The operators that the node's operator calls in turn, with one input for each of body_operands(node) and one output
/// for each result. Found by running it on made-up numbers, and compared with it on others. kUnimplemented, with the
/// reason, where it has no such body or where the body is not the same in all cases.
/// REQUIRES: no session records.
[[nodiscard]] Result<graph::Graph> body_of(const graph::Node& node);

/// Copies the nodes of `body` before `position`; `operands` stand for its inputs. Every copy has the location of
/// `position`. Returns what stands for the outputs.
[[nodiscard]] std::vector<graph::Value*> insert_body(graph::Graph& graph, graph::Node* position,
                                                     const graph::Graph& body,
                                                     const std::vector<graph::Value*>& operands);

}  // namespace leapp::exporter
