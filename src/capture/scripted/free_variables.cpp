// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/free_variables.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "capture/scripted/scripted_run.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;
namespace prim = c10::prim;

/// The values that blocks read and do not make.
void add_free(jit::Block* block, std::set<const jit::Value*>& made, std::vector<const jit::Value*>& free) {
  const auto read = [&](const jit::Value* value) {
    if (!made.contains(value) && std::find(free.begin(), free.end(), value) == free.end()) free.push_back(value);
  };
  for (const jit::Value* input : block->inputs()) made.insert(input);
  for (jit::Node* node : block->nodes()) {
    for (const jit::Value* input : node->inputs()) read(input);
    for (jit::Block* inner : node->blocks()) add_free(inner, made, free);
    for (const jit::Value* output : node->outputs()) made.insert(output);
  }
  for (const jit::Value* output : block->outputs()) read(output);
}

/// What of objects and constants the nodes of a block read.
class Reach {
 public:
  Reach(const ScriptedRun& run, BlockEnvironment& world) : run_(run), world_(world) {}

  void add(jit::Block* block) {
    for (jit::Node* node : block->nodes()) {
      if (node->kind() == prim::Constant && node->outputs().size() == 1) {
        world_.add(run_.here(jit::toIValue(node->output()).value_or(c10::IValue())));
      } else if (node->kind() == prim::GetAttr) {
        add_attribute(node);
      }
      for (jit::Block* inner : node->blocks()) add(inner);
    }
  }

 private:
  void add_attribute(jit::Node* node) {
    const auto made = objects_.find(node->input());
    const bool outside = made == objects_.end();
    if (outside && !run_.knows(node->input())) return;  // of an object that the block makes: refused when it is run
    const c10::IValue owner = outside ? run_.get(node->input()).value : made->second;
    if (!owner.isObject()) return;
    const c10::IValue value = owner.toObject()->getAttr(node->s(c10::attr::name));
    value.isObject() ? void(objects_.emplace(node->output(), value)) : world_.add(run_.here(value));
  }

  const ScriptedRun& run_;
  BlockEnvironment& world_;
  std::unordered_map<const jit::Value*, c10::IValue> objects_;
};

/// Two tensors in one memory, of which one is what a branch or a loop gave: on another way they may be two.
void refuse_shared(const ScriptedRun& run, const std::vector<const jit::Value*>& values) {
  struct Users {
    std::set<const c10::TensorImpl*> tensors;
    bool chosen = false;
  };
  std::unordered_map<const c10::StorageImpl*, Users> memories;
  for (const jit::Value* value : values) {
    const c10::IValue& held = run.get(value).value;
    if (!held.isTensor() || !held.toTensor().has_storage()) continue;
    Users& users = memories[held.toTensor().storage().unsafeGetStorageImpl()];
    users.tensors.insert(held.toTensor().unsafeGetTensorImpl());
    users.chosen = users.chosen || run.is_chosen(held.toTensor());
    if (users.chosen && users.tensors.size() > 1) {
      throw Unrecordable("two tensors are one memory on the way that it came, and may be two on another");
    }
  }
}

}  // namespace

FreeVariables::FreeVariables(const ScriptedRun& run, at::ArrayRef<jit::Block*> blocks) {
  std::set<const jit::Value*> made;
  for (jit::Block* block : blocks) add_free(block, made, free);
  refuse_shared(run, free);
  Reach reach(run, world);
  for (jit::Block* block : blocks) reach.add(block);
  for (const jit::Value* value : free) {
    const ScriptedItem& item = run.get(value);
    item.twin.defined() ? world.add(item.twin) : world.add(item.value);
  }
}

}  // namespace leapp::capture
