// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_code.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "capture/hook/hook.h"
#include "capture/scripted/scripted_numbers.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;
namespace prim = c10::prim;

using VisitNode = std::function<void(jit::Node*)>;

void each_node(jit::Block* block, const VisitNode& visit) {
  for (jit::Node* node : block->nodes()) {
    visit(node);
    for (jit::Block* inner : node->blocks()) each_node(inner, visit);
  }
}

bool is_runnable(const jit::Node& node) {
  if (is_structure(node.kind()) || node.kind() == prim::If || node.kind() == prim::Loop) return true;
  static const auto* const others =
      new std::unordered_set<std::string>{"prim::PythonOp", "prim::fork",       "prim::awaitable", "prim::Enter",
                                          "prim::Exit",     "prim::isinstance", "prim::Closure"};
  return !others->contains(node.kind().toQualString()) && node.maybeOperator() != nullptr;
}

/// Values that decide what `value` is, one step back.
std::vector<const jit::Value*> sources_of(const jit::Value* value) {
  const jit::Node* node = value->node();
  std::vector<const jit::Value*> found;
  if (node->kind() == prim::Param) {
    const jit::Node* loop = node->owningBlock()->owningNode();
    if (loop == nullptr || loop->kind() != prim::Loop) return found;
    if (value->offset() == 0) return {loop->input(0)};
    return {loop->input(value->offset() + 1), node->owningBlock()->outputs()[value->offset()]};
  }
  if (node->kind() == prim::If) {
    found.push_back(node->input());
    for (const jit::Block* side : node->blocks()) found.push_back(side->outputs()[value->offset()]);
    return found;
  }
  if (node->kind() == prim::Loop) {
    const auto outputs = node->blocks()[0]->outputs();
    return {node->input(0), node->input(1), outputs[0], node->input(value->offset() + 2), outputs[value->offset() + 1]};
  }
  found.assign(node->inputs().begin(), node->inputs().end());
  return found;
}

bool is_inside(const jit::Node* inner, const jit::Node* outer) {
  for (const jit::Block* block = inner->owningBlock(); block != nullptr;) {
    const jit::Node* owner = block->owningNode();
    if (owner == outer) return true;
    block = owner == nullptr ? nullptr : owner->owningBlock();
  }
  return false;
}

bool is_tensor_value(const jit::Value* value) { return value->type()->kind() == c10::TypeKind::TensorType; }

/// Comes from outside of the code: others may have it.
bool is_from_outside(const jit::Value* value) {
  const jit::Node* node = value->node();
  const bool parameter = node->kind() == prim::Param && node->owningBlock()->owningNode() == nullptr;
  return parameter || node->kind() == prim::GetAttr || node->kind() == prim::Constant;
}

/// Read by something behind `node`, or inside of it.
bool is_read_from(const jit::Value* value, const jit::Node* node) {
  return std::any_of(value->uses().begin(), value->uses().end(), [&](const jit::Use& use) {
    return use.user != node && (is_inside(use.user, node) || node->isBefore(use.user));
  });
}

/// Read by something that runs after `node`; around a loop, what stands before comes again.
bool is_read_later(const jit::Value* value, const jit::Node* node) {
  return std::any_of(value->uses().begin(), value->uses().end(), [&](const jit::Use& use) {
    if (use.user != node && !is_inside(use.user, node) && node->isBefore(use.user)) return true;
    for (const jit::Block* block = node->owningBlock(); block->owningNode() != nullptr;
         block = block->owningNode()->owningBlock()) {
      const jit::Node* around = block->owningNode();
      const bool loop = around->kind() == prim::Loop;
      if (loop && !is_inside(value->node(), around) && is_inside(use.user, around)) return true;
    }
    return false;
  });
}

}  // namespace

ScriptedCode::ScriptedCode(const jit::Graph& graph) : graph_(const_cast<jit::Graph&>(graph).copy()) {
  const Unrecorded quiet;  // constants are computed
  jit::Inline(*graph_);
  jit::LowerSimpleTuples(graph_);
  jit::ConstantPropagationImmutableTypes(graph_);
  jit::EliminateDeadCode(graph_);
  bool decides = false;
  bool loops = false;
  bool reads = false;
  bool runnable = true;
  each_node(graph_->block(), [&](jit::Node* node) {
    decides = decides || node->kind() == prim::If;
    loops = loops || node->kind() == prim::Loop;
    reads = reads || reads_number(*node);
    runnable = runnable && is_runnable(*node);
  });
  followed_ = runnable && (loops || (decides && reads));
  if (followed_) aliases_ = std::make_unique<jit::AliasDb>(graph_);
}

bool ScriptedCode::depends_on_data(const jit::Value* value) const {
  std::unordered_set<const jit::Value*> seen;
  std::vector<const jit::Value*> open{value};
  while (!open.empty()) {
    const jit::Value* one = open.back();
    open.pop_back();
    if (!seen.insert(one).second || is_tensor_value(one)) continue;
    if (reads_number(*one->node())) return true;
    for (const jit::Value* source : sources_of(one)) open.push_back(source);
  }
  return false;
}

bool ScriptedCode::shares_writes(jit::Node* node, jit::Value* result) const {
  bool written = false;
  bool shared = false;
  each_node(graph_->block(), [&](jit::Node* other) {
    const bool later = other != node && !is_inside(other, node) && (node->isBefore(other) || is_inside(node, other));
    if (later && !is_inside(node, other)) written = written || aliases_->writesToAlias(other, {result});
    for (jit::Value* value : other->outputs()) {
      if (other == node || is_inside(other, node) || !is_tensor_value(value)) continue;
      const bool visible = is_from_outside(value) || is_read_later(value, node);
      shared = shared || (visible && value != result && aliases_->mayAlias(value, result));
    }
  });
  // Around a loop what comes behind comes before, too.
  for (const jit::Block* block = node->owningBlock(); block->owningNode() != nullptr;
       block = block->owningNode()->owningBlock()) {
    if (block->owningNode()->kind() == prim::Loop) written = written || aliases_->hasWriters(result);
  }
  for (jit::Value* value : graph_->inputs())
    shared = shared || (is_tensor_value(value) && aliases_->mayAlias(value, result));
  return written && shared;
}

bool ScriptedCode::is_seen_elsewhere(jit::Node* node, jit::Value* value) const {
  if (is_from_outside(value)) return true;
  bool seen = false;
  const auto look = [&](jit::Value* other) {
    if (other->node() == node || is_inside(other->node(), node) || !is_tensor_value(other)) return;
    if (other != value && !aliases_->mayAlias(other, value)) return;
    seen = seen || is_from_outside(other) || is_read_from(other, node);
  };
  for (jit::Value* input : graph_->inputs()) look(input);
  each_node(graph_->block(), [&](jit::Node* other) {
    for (jit::Value* output : other->outputs()) look(output);
  });
  return seen;
}

bool is_structure(c10::Symbol kind) {
  return kind == prim::Constant || kind == prim::GetAttr || kind == prim::SetAttr || kind == prim::ListConstruct ||
         kind == prim::TupleConstruct || kind == prim::DictConstruct || kind == prim::Uninitialized ||
         kind == prim::unchecked_cast || kind == prim::RaiseException;
}

LocationId line_of(const jit::Node& node) {
  const auto place = node.sourceRange().file_line_col();
  return place ? intern_location(std::get<0>(*place), static_cast<int>(std::get<1>(*place)), "") : 0;
}

}  // namespace leapp::capture
