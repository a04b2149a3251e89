// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "emit/torchscript/parameter_names.h"
#include "graph/graph.h"
#include "graph/names.h"

namespace leapp::emit {

/// The modules that hold a graph's constants, and the code that reads them: "actor.0.weight" is a tensor of module "0"
/// of module "actor".
class ModuleTree {
 public:
  /// Without tensors each constant is an empty one.
  ModuleTree(const graph::Graph& graph, std::shared_ptr<torch::jit::Graph> code, bool with_tensors);

  [[nodiscard]] const torch::jit::Module& root() const { return branches_.at({}).module; }
  /// `code` is the root's method forward: gives it its first input, `self`.
  void begin_code();
  void end_code();

  /// Reads a constant where code is being inserted. REQUIRES: it is one of the graph's.
  torch::jit::Value* read(const graph::Value* constant);
  /// Likewise; modules on the way to it are read anew.
  torch::jit::Value* read_anew(const graph::Value* constant);
  /// An attribute of the root that is called `wish`, or nearly so.
  torch::jit::Value* attribute(const char* wish, const c10::IValue& value, const c10::TypePtr& type);

 private:
  using Place = std::vector<std::string>;
  /// One module with the class that describes it.
  struct Branch {
    torch::jit::Module module;
    torch::jit::Value* value = nullptr;  // in the code, once it was read
  };

  Branch make_branch(const std::string& class_name);
  void add_constants(const graph::Graph& graph);
  void add_constant(const graph::Value& value);
  at::Tensor stored(const graph::Constant& constant);
  torch::jit::Value* member(torch::jit::Value* owner, const std::string& name);
  torch::jit::Value* branch_value(const Place& path);

  std::shared_ptr<torch::jit::Graph> code_;
  bool with_tensors_;
  std::shared_ptr<torch::jit::CompilationUnit> unit_ = std::make_shared<torch::jit::CompilationUnit>();
  graph::IdentifierNamer class_names_;
  ParameterNames names_;
  std::map<Place, Branch> branches_;
  std::map<std::tuple<const void*, DType, std::size_t>, at::Tensor> shared_;
  std::unordered_map<const graph::Value*, Place> places_;
};

}  // namespace leapp::emit
