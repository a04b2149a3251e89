// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: runs graphs of views and scatters on int64 numbers, one element at a time, by the definition of each
// operator.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph::testing {

struct ViewTensor {
  Shape shape;
  std::vector<std::int64_t> data;
  bool operator==(const ViewTensor&) const = default;
};

/// The outputs in order. Input k holds 1000 * k, 1000 * k + 1, ... Throws std::runtime_error on what it does not know.
[[nodiscard]] std::vector<ViewTensor> interpret(const Graph& graph);

[[nodiscard]] std::size_t count_nodes(const Graph& graph, const std::string& op);

}  // namespace leapp::graph::testing
