// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace leapp::graph::masks {

/// Whether the shape of the node's result depends on data.
[[nodiscard]] bool depends_on_data(const Node& node);

/// Of bool or, as old programs have it, uint8.
[[nodiscard]] bool is_mask(const Value* index);

}  // namespace leapp::graph::masks
