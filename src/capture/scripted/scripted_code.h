// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_map>

#include "capture/hook/source_location.h"

namespace leapp::capture {

/// The graph of a scripted function: everything it calls written out, in the form in which it was compiled. What
/// torch's executor makes of it from run to run (profiles, fused operators) is not looked at.
class ScriptedCode {
 public:
  explicit ScriptedCode(const torch::jit::Graph& graph);

  [[nodiscard]] torch::jit::Graph& graph() const { return *graph_; }

  /// Whether it has branches or loops that data may decide, and nothing that only torch's own interpreter runs.
  [[nodiscard]] bool is_followed() const { return followed_; }

  /// Whether a number out of a tensor decides it.
  [[nodiscard]] bool depends_on_data(const torch::jit::Value* value) const;

  /// Whether it matters that `result`, a result of the If or Loop `node`, may be the memory of another tensor:
  /// something writes to it afterwards, and somebody else may look.
  [[nodiscard]] bool shares_writes(torch::jit::Node* node, torch::jit::Value* result) const;

  /// Whether anybody but the Loop `node` looks at memory of `value`, which is handed to it.
  [[nodiscard]] bool is_seen_elsewhere(torch::jit::Node* node, torch::jit::Value* value) const;

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  std::unique_ptr<torch::jit::AliasDb> aliases_;
  bool followed_ = false;
};

/// Nodes that put values together or take them apart, and run no operator of torch's.
[[nodiscard]] bool is_structure(c10::Symbol kind);

/// The line that a node of scripted code is from.
[[nodiscard]] LocationId line_of(const torch::jit::Node& node);

}  // namespace leapp::capture
