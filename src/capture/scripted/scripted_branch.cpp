// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_branch.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "capture/hook/arguments.h"
#include "capture/scripted/control.h"
#include "capture/scripted/free_variables.h"
#include "capture/scripted/scripted_blocks.h"
#include "capture/scripted/scripted_run.h"
#include "graph/text.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;
using Tensors = std::vector<at::Tensor>;

/// One side, run on copies.
struct Side {
  Side(const ScriptedRun& outer, const FreeVariables& around, jit::Block* block, BlockRecording::Data data)
      : recording(around.world, data, outer.recording()), run(outer.code(), &recording) {
    for (const jit::Value* value : around.free) run.set(value, item_inside(outer.get(value), recording));
    run_inside(run, recording, block);
    for (const jit::Value* output : block->outputs()) outputs.push_back(run.get(output));
  }

  BlockRecording recording;
  ScriptedRun run;
  std::vector<ScriptedItem> outputs;
};
using SidePtr = std::unique_ptr<Side>;

SidePtr side_of(const ScriptedRun& run, const FreeVariables& around, jit::Block* block) {
  return on_some_data([&](BlockRecording::Data data) { return std::make_unique<Side>(run, around, block, data); });
}

std::pair<SidePtr, SidePtr> sides_of(const ScriptedRun& run, const FreeVariables& around, jit::Node* node) {
  SidePtr yes;
  try {
    yes = side_of(run, around, node->blocks()[0]);
  } catch (const BlockRaises& raised) {
    throw OneSideRaises(raised.what(), 1);
  }
  try {
    return {std::move(yes), side_of(run, around, node->blocks()[1])};
  } catch (const BlockRaises& raised) {
    throw OneSideRaises(raised.what(), 0);
  }
}

/// A result that depends on which side is taken.
struct BranchSlot {
  std::size_t output = 0;
  ValueType type;
  bool number = false;
};

[[noreturn]] void refuse_types(std::size_t output, const at::Tensor& a, const at::Tensor& b) {
  throw Unrecordable(fmt::format("result {} is {} on one side and {} on the other", output, type_text(type_of(a)),
                                 type_text(type_of(b))));
}

/// Nothing: the same on both sides.
std::optional<BranchSlot> slot_of(std::size_t output, const ScriptedItem& a, const ScriptedItem& b) {
  const ScriptedItem& known = a.unset ? b : a;
  if (known.unset) return std::nullopt;
  const auto is_tensor = [](const ScriptedItem& item) { return item.unset || item.value.isTensor(); };
  if (is_tensor(a) && is_tensor(b)) {
    const at::Tensor& tensor = known.value.toTensor();
    const bool same = a.unset || b.unset || type_of(a.value.toTensor()) == type_of(b.value.toTensor());
    if (!same) refuse_types(output, a.value.toTensor(), b.value.toTensor());
    return BranchSlot{output, type_of(tensor), false};
  }
  const auto numbers = [](const ScriptedItem& item) { return item.unset || is_number(item.value); };
  if (numbers(a) && numbers(b)) {
    const bool same_kind = a.unset || b.unset || twin_type(a.value) == twin_type(b.value);
    if (!same_kind) throw Unrecordable("it gives another type of number on each side");
    const bool fixed = !a.twin.defined() && !b.twin.defined() && !a.unset && !b.unset;
    if (fixed && a.value == b.value) return std::nullopt;
    return BranchSlot{output, {twin_type(known.value), {}}, true};
  }
  const bool plain = !a.unset && !b.unset && !a.value.isTensor() && !b.value.isTensor() && !a.value.isList() &&
                     !a.value.isTuple() && !a.value.isGenericDict() && !a.value.isObject();
  if (plain && a.value == b.value) return std::nullopt;
  throw Unrecordable("it gives a list, or something else that no model can choose");
}

at::Tensor output_tensor(const ScriptedItem& item, const BranchSlot& slot) {
  if (item.unset) return zeros_of(slot.type);
  return slot.number ? as_tensor(item) : item.value.toTensor();
}

class BranchRecording {
 public:
  BranchRecording(ScriptedRun& run, jit::Node* node) : run_(run), node_(node), around_(run, node->blocks()) {
    std::tie(yes_, no_) = sides_of(run, around_, node);
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      const auto slot = slot_of(i, yes_->outputs[i], no_->outputs[i]);
      if (!slot) continue;
      slots_.push_back(*slot);
      if (is_outside(*yes_, i) || is_outside(*no_, i)) refuse_shared_writes(run, node, i);
    }
    for (std::size_t part = 0; part < around_.world.size(); ++part) {
      if (yes_->recording.is_written(part) || no_->recording.is_written(part)) written_.push_back(part);
    }
  }

  void execute() {
    ControlCall call{{run_.get(node_->input()).twin}, {}, graph_of(*yes_), graph_of(*no_)};
    for (std::size_t part = 0; part < around_.world.size(); ++part)
      call.operands.push_back(around_.world.operand(part));
    for (const std::size_t part : written_) call.written.push_back(around_.world.operand(part));
    jit::Block* taken = node_->blocks()[run_.get(node_->input()).value.toBool() ? 0 : 1];
    const Tensors results = call_control(call, [&] { return real_results(taken); });
    for (std::size_t i = 0; i < node_->outputs().size(); ++i) {
      ScriptedItem item = run_.get(taken->outputs()[i]);
      item.twin = at::Tensor();
      run_.set(node_->outputs()[i], std::move(item));
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      // Set on the other side, it is set: what is recorded must not depend on which is taken.
      run_.set(node_->outputs()[slots_[i].output],
               slots_[i].number ? ScriptedItem{number_in(results[i]), results[i]} : ScriptedItem{results[i], {}});
    }
  }

 private:
  [[nodiscard]] bool is_outside(const Side& side, std::size_t output) const {
    const ScriptedItem& item = side.outputs[output];
    return item.value.isTensor() && side.recording.part_of(item.value.toTensor()) < around_.world.size();
  }

  std::string graph_of(Side& side) const {
    Tensors outputs;
    for (const BranchSlot& slot : slots_) outputs.push_back(output_tensor(side.outputs[slot.output], slot));
    for (const std::size_t part : written_) outputs.push_back(side.recording.content(part));
    std::vector<std::size_t> parts(around_.world.size());
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    return graph::print(side.recording.graph(outputs, parts));
  }

  Tensors real_results(jit::Block* taken) {
    run_.run_quietly(*taken);
    Tensors given;
    for (const BranchSlot& slot : slots_)
      given.push_back(result_tensor(run_.get(taken->outputs()[slot.output]), slot.type));
    return apart(run_, std::move(given), around_.world);
  }

  ScriptedRun& run_;
  jit::Node* node_;
  FreeVariables around_;
  SidePtr yes_;
  SidePtr no_;
  std::vector<BranchSlot> slots_;
  std::vector<std::size_t> written_;  // by either side
};

}  // namespace

void record_branch(ScriptedRun& run, jit::Node* node) { BranchRecording(run, node).execute(); }

}  // namespace leapp::capture
