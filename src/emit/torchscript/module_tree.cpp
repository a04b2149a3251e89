// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/module_tree.h"

#include <utility>

#include "torch_types/tensors.h"

namespace leapp::emit {

namespace jit = torch::jit;

ModuleTree::ModuleTree(const graph::Graph& graph, std::shared_ptr<jit::Graph> code, bool with_tensors)
    : code_(std::move(code)), with_tensors_(with_tensors) {
  branches_.emplace(Place{}, make_branch(graph.name().empty() ? "Module" : graph.name()));
  add_constants(graph);
}

void ModuleTree::begin_code() { branches_.at({}).value = code_->addInput("self")->setType(root().type()); }

void ModuleTree::end_code() {
  root().type()->addMethod(unit_->create_function(c10::QualifiedName(*root().type()->name(), "forward"), code_));
}

ModuleTree::Branch ModuleTree::make_branch(const std::string& class_name) {
  const c10::QualifiedName name(c10::QualifiedName("__torch__"), class_names_.make(class_name));
  Branch branch{jit::Module(name, unit_), nullptr};
  // Module.eval() and torch.jit.freeze expect it.
  branch.module.register_attribute("training", c10::BoolType::get(), false);
  return branch;
}

// Constants over the same bytes are one storage in the file, however many names and shapes they have.
at::Tensor ModuleTree::stored(const graph::Constant& constant) {
  if (!with_tensors_) return to_tensor({{constant.type.dtype, {0}}, nullptr});
  if (constant.byte_size() == 0) return to_tensor(constant);
  at::Tensor& known = shared_[{constant.data.get(), constant.type.dtype, constant.byte_size()}];
  if (!known.defined()) known = to_tensor(constant);
  return known.view(constant.type.shape);
}

void ModuleTree::add_constant(const graph::Value& value) {
  std::vector<std::string> path = names_.place(value.name());
  places_.emplace(&value, path);
  const std::string name = path.back();
  path.pop_back();
  for (std::size_t depth = 0; depth < path.size(); ++depth) {
    const std::vector<std::string> parent(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth));
    std::vector<std::string> child = parent;
    child.push_back(path[depth]);
    if (branches_.contains(child)) continue;
    Branch& above = branches_.at(parent);
    Branch branch = make_branch(above.module.type()->name()->name() + "_" + path[depth]);
    above.module.register_module(path[depth], branch.module);
    branches_.emplace(std::move(child), std::move(branch));
  }
  const at::Tensor tensor = stored(value.constant());
  const bool floating = tensor.is_floating_point() || tensor.is_complex();
  const bool is_parameter = floating && value.constant().parameter;
  branches_.at(path).module.register_parameter(name, tensor, !is_parameter);
}

// What both sides of a branch and the graph around it know by one name is one member.
void ModuleTree::add_constants(const graph::Graph& whole) {
  std::unordered_map<std::string, const graph::Value*> known;
  graph::for_each_graph(whole, [&](const graph::Graph& graph) {
    for (const auto& value : graph.constants()) {
      const auto [same, fresh] = known.try_emplace(value->name(), value.get());
      if (!fresh && same->second->constant().same_content(value->constant())) {
        places_.emplace(value.get(), places_.at(same->second));
      } else {
        add_constant(*value);
      }
    }
  });
}

jit::Value* ModuleTree::member(jit::Value* owner, const std::string& name) {
  jit::Value* value = code_->insertNode(code_->createGetAttr(owner, name))->output();
  // The printer names a variable after the member: one called `torch` would hide every operator.
  return value->setDebugName(graph::legal_identifier(name));
}

jit::Value* ModuleTree::branch_value(const Place& path) {
  Branch& branch = branches_.at(path);
  if (branch.value == nullptr) {
    std::vector<std::string> parent(path.begin(), path.end() - 1);
    jit::Value* above = branch_value(parent);
    branch.value = member(above, path.back());
  }
  return branch.value;
}

jit::Value* ModuleTree::read(const graph::Value* constant) {
  const Place& place = places_.at(constant);
  return member(branch_value({place.begin(), place.end() - 1}), place.back());
}

jit::Value* ModuleTree::read_anew(const graph::Value* constant) {
  jit::Value* there = branch_value({});
  for (const std::string& name : places_.at(constant)) there = member(there, name);
  return there;
}

jit::Value* ModuleTree::attribute(const char* wish, const c10::IValue& value, const c10::TypePtr& type) {
  const std::string name = names_.place(wish).back();
  branches_.at({}).module.register_attribute(name, type, value);
  return member(branch_value({}), name);
}

}  // namespace leapp::emit
