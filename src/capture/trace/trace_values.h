// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/trace/trace_builder.h"
#include "capture/trace/trace_text.h"
#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// Makes values, inputs and outputs of `call` of a graph: the other way round than to_graph. Operators must be known to
/// torch and have the arguments that their schema says; those left out have its defaults.
Status add_values(const graph::Graph& graph, TracedCall& call, TraceBuilder& builder);

}  // namespace leapp::capture
