// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::emit {

struct TorchscriptOptions {
  /// Tracebacks of the loaded module name the user's file and line. Puts file names, as captured, into the bytes.
  bool source_lines = true;
};

/// The bytes of a .pt file that torch.jit.load reads without this package. `forward` takes the graph's inputs in order,
/// under their names made legal, and returns a tensor, or a tuple of several. Constants become parameters (floating
/// point and named by the user) or buffers under their names; nothing requires gradients. The same graph gives the same
/// bytes in every process. Reads the graph only; different graphs may be emitted by different threads.
/// kUnimplemented, with the operator and the user's line, for what TorchScript cannot say.
/// REQUIRES: while a session records, the caller holds a capture::Suppress.
[[nodiscard]] Result<std::string> emit_torchscript(const graph::Graph& graph, const TorchscriptOptions& options = {});

}  // namespace leapp::emit
