// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_loop.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
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

/// Something that is carried from round to round.
struct LoopSlot {
  enum class Kind : std::uint8_t { kTensor, kNumber, kMemory, kUnset };
  Kind kind = Kind::kTensor;
  at::Tensor initial;  ///< kTensor, kNumber
  at::Tensor inside;   ///< what stands for it in the recording
};

class LoopRecording {
 public:
  LoopRecording(ScriptedRun& run, jit::Node* node) : run_(run), node_(node), body_(node->blocks()[0]) {
    for (std::size_t i = 2; i < node->inputs().size(); ++i) slots_.push_back(first_guess(run.get(node->input(i))));
  }

  /// As often as it takes to know what is carried, and how.
  void record() {
    for (int attempt = 0; attempt < 4; ++attempt) {
      on_some_data([&](BlockRecording::Data data) { attempt_once(data); });
      if (!settle()) return;
    }
    throw Unrecordable("what it carries from round to round cannot be told");
  }

  void execute();

 private:
  static LoopSlot first_guess(const ScriptedItem& item) {
    if (item.unset) return {LoopSlot::Kind::kUnset, {}, {}};
    if (item.value.isTensor() && item.value.toTensor().defined()) {
      return {LoopSlot::Kind::kTensor, item.value.toTensor(), {}};
    }
    if (is_number(item.value)) return {LoopSlot::Kind::kNumber, as_tensor(item), {}};
    throw Unrecordable("it carries a list, or something else that no loop of a model can");
  }

  [[nodiscard]] const ScriptedItem& initial(std::size_t slot) const { return run_.get(node_->input(slot + 2)); }
  [[nodiscard]] const ScriptedItem& next(std::size_t slot) const { return inner_->get(body_->outputs()[slot + 1]); }

  void attempt_once(BlockRecording::Data data) {
    around_.emplace(run_, node_->blocks());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].kind == LoopSlot::Kind::kMemory) around_->world.add(initial(i).value);
    }
    recording_ = std::make_unique<BlockRecording>(around_->world, data, run_.recording());
    inner_ = std::make_unique<ScriptedRun>(run_.code(), recording_.get());
    for (const jit::Value* value : around_->free) inner_->set(value, item_inside(run_.get(value), *recording_));
    const at::Tensor round = recording_->add_input("round", as_tensor({c10::IValue(std::int64_t{0}), {}}));
    inner_->set(body_->inputs()[0], {c10::IValue(std::int64_t{0}), round});
    for (std::size_t i = 0; i < slots_.size(); ++i) give(i);
    run_inside(*inner_, *recording_, body_);
  }

  void give(std::size_t slot) {
    LoopSlot& given = slots_[slot];
    ScriptedItem item{c10::IValue(), {}, true};
    if (given.kind == LoopSlot::Kind::kMemory) item = item_inside(initial(slot), *recording_);
    if (given.kind == LoopSlot::Kind::kTensor || given.kind == LoopSlot::Kind::kNumber) {
      given.inside = recording_->add_input(fmt::format("c{}", slot), given.initial);
    }
    if (given.kind == LoopSlot::Kind::kTensor) item = {given.inside, {}};
    if (given.kind == LoopSlot::Kind::kNumber) item = {number_in(given.inside), given.inside};
    inner_->set(body_->inputs()[slot + 1], std::move(item));
  }

  /// Whether another attempt is needed, since more is known now.
  bool settle() {
    bool again = false;
    for (std::size_t i = 0; i < slots_.size(); ++i) again = settle(i) || again;
    if (!again) check_memory();
    return again;
  }

  bool settle(std::size_t slot) {
    LoopSlot& carried = slots_[slot];
    const ScriptedItem& after = next(slot);
    switch (carried.kind) {
      case LoopSlot::Kind::kUnset:
        if (after.unset) return false;
        if (!after.value.isTensor() && !is_number(after.value)) throw Unrecordable("it carries a list");
        carried.kind = after.value.isTensor() ? LoopSlot::Kind::kTensor : LoopSlot::Kind::kNumber;
        carried.initial =
            zeros_of(after.value.isTensor() ? type_of(after.value.toTensor()) : ValueType{twin_type(after.value), {}});
        return true;
      case LoopSlot::Kind::kNumber:
        if (after.unset || !is_number(after.value) || twin_type(after.value) != carried.initial.scalar_type()) {
          if (!after.unset) throw Unrecordable("it carries a number that becomes another type of number");
        }
        return false;
      case LoopSlot::Kind::kTensor:
        return settle_tensor(slot);
      case LoopSlot::Kind::kMemory:
        if (!after.value.isTensor() ||
            !is_same_place(after.value.toTensor(), recording_->inside(initial(slot).value).toTensor())) {
          throw Unrecordable("it writes to a tensor that is another one in the next round");
        }
        return false;
    }
    return false;
  }

  static bool is_same_place(const at::Tensor& a, const at::Tensor& b) {
    return a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl() && a.sizes() == b.sizes() &&
           a.strides() == b.strides() && a.storage_offset() == b.storage_offset() && a.scalar_type() == b.scalar_type();
  }

  bool settle_tensor(std::size_t slot) {
    LoopSlot& carried = slots_[slot];
    const ScriptedItem& after = next(slot);
    if (after.unset) return false;
    if (!after.value.isTensor()) throw Unrecordable("it carries a tensor that becomes something else");
    const ValueType now = type_of(after.value.toTensor());
    const ValueType before = type_of(carried.initial);
    if (!(now == before)) {
      throw Unrecordable(
          fmt::format("what it carries is {} in one round and {} in the next", type_text(before), type_text(now)));
    }
    if (!recording_->is_written(carried.inside) || initial(slot).unset) return false;
    if (is_same_place(after.value.toTensor(), carried.inside)) {
      carried.kind = LoopSlot::Kind::kMemory;
      return true;
    }
    if (run_.code().is_seen_elsewhere(node_, node_->input(slot + 2))) {
      throw Unrecordable("it writes to a tensor that is another one in the next round");
    }
    return false;
  }

  /// What is carried by value must not be memory that is written to under another name.
  void check_memory() {
    std::set<const c10::StorageImpl*> memories;
    bool writes = false;
    for (const LoopSlot& slot : slots_) {
      writes = writes || (slot.kind == LoopSlot::Kind::kTensor && recording_->is_written(slot.inside));
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].kind != LoopSlot::Kind::kTensor || !next(i).value.isTensor()) continue;
      const at::Tensor& after = next(i).value.toTensor();
      const std::size_t part = recording_->part_of(after);
      if (part < around_->world.size() && recording_->is_written(part)) {
        throw Unrecordable("it carries a tensor whose memory it also writes to");
      }
      const bool fresh = memories.insert(after.storage().unsafeGetStorageImpl()).second;
      const bool others = part < around_->world.size() || !fresh;
      if (writes && others) throw Unrecordable("it writes to a tensor that it carries under two names");
      refuse_shared_writes(run_, node_, i);
    }
  }

  [[nodiscard]] Tensors outputs(const std::vector<std::size_t>& written) const {
    Tensors all{as_tensor(inner_->get(body_->outputs()[0]))};
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const ScriptedItem& after = next(i);
      if (slots_[i].kind == LoopSlot::Kind::kNumber) all.push_back(after.unset ? slots_[i].inside : as_tensor(after));
      if (slots_[i].kind == LoopSlot::Kind::kTensor) {
        all.push_back(after.unset ? slots_[i].inside : after.value.toTensor());
      }
    }
    for (const std::size_t part : written) all.push_back(recording_->content(part));
    return all;
  }

  Tensors real_results();

  ScriptedRun& run_;
  jit::Node* node_;
  jit::Block* body_;
  std::vector<LoopSlot> slots_;
  std::optional<FreeVariables> around_;
  std::unique_ptr<BlockRecording> recording_;
  std::unique_ptr<ScriptedRun> inner_;
};

void LoopRecording::execute() {
  const BlockEnvironment& world = around_->world;
  std::vector<std::size_t> written;
  std::vector<std::size_t> others;
  for (std::size_t part = 0; part < world.size(); ++part) {
    (recording_->is_written(part) ? written : others).push_back(part);
  }
  std::vector<std::size_t> order = written;
  order.insert(order.end(), others.begin(), others.end());
  ControlCall call{{as_tensor(run_.get(node_->input(0))), as_tensor(run_.get(node_->input(1)))}, {}, "", ""};
  call.first = graph::print(recording_->graph(outputs(written), order));
  for (const LoopSlot& slot : slots_) {
    if (slot.kind == LoopSlot::Kind::kTensor || slot.kind == LoopSlot::Kind::kNumber)
      call.operands.push_back(slot.initial);
  }
  for (const std::size_t part : order) call.operands.push_back(world.operand(part));
  for (const std::size_t part : written) call.written.push_back(world.operand(part));
  const Tensors results = call_control(call, [&] { return real_results(); });
  std::size_t at = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const jit::Value* output = node_->outputs()[i];
    ScriptedItem real = run_.get(output);
    real.twin = at::Tensor();
    if (slots_[i].kind == LoopSlot::Kind::kTensor) real = {results[at++], {}};
    if (slots_[i].kind == LoopSlot::Kind::kNumber) {
      const at::Tensor& result = results[at++];
      real = {number_in(result), result};
    }
    run_.set(output, std::move(real));
  }
}

Tensors LoopRecording::real_results() {
  run_.run_loop_quietly(node_);
  BlockEnvironment known = around_->world;
  Tensors given;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const bool carried = slots_[i].kind == LoopSlot::Kind::kTensor || slots_[i].kind == LoopSlot::Kind::kNumber;
    if (!carried) continue;
    if (initial(i).value.isTensor()) known.add(initial(i).value);
    given.push_back(result_tensor(run_.get(node_->outputs()[i]), type_of(slots_[i].initial)));
  }
  return apart(run_, std::move(given), known);
}

}  // namespace

void record_loop(ScriptedRun& run, jit::Node* node) {
  LoopRecording loop(run, node);
  loop.record();
  loop.execute();
}

}  // namespace leapp::capture
