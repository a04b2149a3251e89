// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/interned_strings.h>
#include <torch/csrc/jit/api/module.h>

#include <exception>
#include <stdexcept>
#include <string>
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

/// One operator of the module's forward, or one branch (prim::If), in order.
struct ScriptCall {
  const graph::Node* node = nullptr;            ///< what it stands for
  const c10::FunctionSchema* schema = nullptr;  ///< the overload that was meant; nullptr for a branch
  c10::Symbol kind;                             ///< the name it has in the module; another than meant for an alias
};

struct BuiltModule {
  torch::jit::Module module;
  std::vector<ScriptCall> calls;
};

/// A module in a compilation unit of its own whose forward is the graph. Throws NodeError and c10::Error.
[[nodiscard]] BuiltModule build_module(const graph::Graph& graph, const BuildOptions& options);

/// The nodes that Calls stand for, in order: neither constants, lists, tuples nor members of the module. A branch comes
/// before what its sides hold.
[[nodiscard]] std::vector<torch::jit::Node*> operators_of(torch::jit::Graph& code);

/// What an exception says, without torch's backtrace; its type where it says nothing.
[[nodiscard]] std::string reason(const std::exception& error);

/// A node that cannot be said in TorchScript; the message names it and the user's line.
class NodeError : public std::runtime_error {
 public:
  NodeError(const graph::Node& node, const std::string& message);
};

}  // namespace leapp::emit
