// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/operator_name.h>
#include <torch/csrc/jit/api/module.h>

#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace leapp::emit {

struct BuildOptions {
  /// Without, parameters are empty tensors: the module prints the same source at no cost.
  bool with_tensors = true;
  bool source_lines = true;
  /// Nodes whose literals become attributes of the module. An attribute has a declared type where a literal leaves it
  /// to the reader, so that no other overload fits.
  std::unordered_set<const graph::Node*> typed;
};

/// One operator of the module's forward, in order. `node` is what it stands for.
struct Call {
  const graph::Node* node = nullptr;
  c10::OperatorName name;
};

struct BuiltModule {
  torch::jit::Module module;
  std::vector<Call> calls;
};

/// A module in a compilation unit of its own whose forward is the graph. Throws NodeError and c10::Error.
[[nodiscard]] BuiltModule build_module(const graph::Graph& graph, const BuildOptions& options);

/// A node that cannot be said in TorchScript; the message names it and the user's line.
class NodeError : public std::runtime_error {
 public:
  NodeError(const graph::Node& node, const std::string& message);
};

}  // namespace leapp::emit
