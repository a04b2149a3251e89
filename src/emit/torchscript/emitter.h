// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
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

/// Takes the bytes of a file one after the other.
using ByteSink = std::function<Status(std::span<const std::byte>)>;

/// The same, piece by piece and from where the weights are: nothing of them is copied. A failure of the sink is
/// returned.
[[nodiscard]] Status emit_torchscript(const graph::Graph& graph, const TorchscriptOptions& options,
                                      const ByteSink& sink);

}  // namespace leapp::emit
