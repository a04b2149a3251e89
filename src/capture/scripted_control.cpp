// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted_control.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/jit_exception.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/arguments.h"
#include "capture/control.h"
#include "capture/hook.h"
#include "capture/scripted_run.h"
#include "graph/text.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;
namespace prim = c10::prim;
using Tensors = std::vector<at::Tensor>;

struct SideRaises : Unrecordable {
  using Unrecordable::Unrecordable;
};
struct FailsOnThisData : Unrecordable {
  using Unrecordable::Unrecordable;
};

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
  Reach(const ScriptedRun& run, ScriptedWorld& world) : run_(run), world_(world) {}

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
  ScriptedWorld& world_;
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

/// All that blocks can reach.
struct Surroundings {
  Surroundings(const ScriptedRun& run, at::ArrayRef<jit::Block*> blocks) {
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

  std::vector<const jit::Value*> free;
  ScriptedWorld world;
};

c10::IValue number_in(const at::Tensor& twin) {
  const Unrecorded quiet;
  if (twin.scalar_type() == at::kBool) return twin.item<bool>();
  return twin.scalar_type() == at::kLong ? c10::IValue(twin.item<std::int64_t>()) : c10::IValue(twin.item<double>());
}

ScriptedItem item_inside(const ScriptedItem& item, BlockRecording& recording) {
  if (!item.twin.defined()) return {recording.inside(item.value), {}, item.unset};
  const at::Tensor twin = recording.inside(item.twin).toTensor();
  return {number_in(twin), twin, false};
}

/// Runs a block inside its recording. Throws Unrecordable, or SideRaises.
void run_inside(ScriptedRun& run, BlockRecording& recording, jit::Block* block) {
  try {
    const at::NoGradGuard no_gradients;
    const RecordInto into(recording.recorder());
    run.run(*block);
  } catch (const Unrecordable&) {
    throw;
  } catch (const jit::JITException& raised) {
    throw SideRaises(raised.what());
  } catch (const std::exception& failure) {
    throw FailsOnThisData(failure.what());
  }
  recording.check();
}

/// What `record` gives for the data that is there; where an operator fails on that (a position that is not there), for
/// zeros in the place of whole numbers. What is recorded does not depend on it.
template <typename Record>
auto on_some_data(Record record) {
  try {
    return record(BlockRecording::Data::kReal);
  } catch (const FailsOnThisData&) {
    return record(BlockRecording::Data::kZeros);
  }
}

at::Tensor zeros_like_type(const ValueType& type) {
  const Unrecorded quiet;
  return at::zeros(type.sizes, type.dtype);
}

std::vector<std::size_t> parts_from(std::size_t count) {
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

std::string printed(const graph::Graph& graph) { return graph::print(graph); }

/// Tensors are the program's own from here on: an operator that gave back what it was given would be none. Whether two
/// of them are one memory depends on the data, and no block may be recorded by that: in a recording each has its own.
/// The program itself keeps what it has; refuse_shared asks for it.
Tensors apart(ScriptedRun& run, Tensors results, const ScriptedWorld& world) {
  std::set<const c10::TensorImpl*> seen;
  for (at::Tensor& result : results) {
    const bool fresh = seen.insert(result.unsafeGetTensorImpl()).second && !world.has(result);
    if (run.recording()) {
      result = result.clone();
    } else if (!fresh) {
      result = at::alias(result);
    }
    run.note_chosen(result);
  }
  return results;
}

at::Tensor result_tensor(const ScriptedItem& item, const ValueType& type) {
  if (item.unset) return zeros_like_type(type);
  if (item.value.isTensor()) return item.value.toTensor();
  return at::scalar_tensor(item.value.toScalar(), type.dtype);
}

// ---- Branches ----

/// One side, run on copies.
struct Side {
  Side(const ScriptedRun& outer, const Surroundings& around, jit::Block* block, BlockRecording::Data data)
      : recording(around.world, data, outer.recording()), run(outer.code(), &recording) {
    for (const jit::Value* value : around.free) run.set(value, item_inside(outer.get(value), recording));
    run_inside(run, recording, block);
    for (const jit::Value* output : block->outputs()) outputs.push_back(run.get(output));
  }

  BlockRecording recording;
  ScriptedRun run;
  std::vector<ScriptedItem> outputs;
};

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
  if (item.unset) return zeros_like_type(slot.type);
  return slot.number ? as_tensor(item) : item.value.toTensor();
}

void check_sharing(ScriptedRun& run, jit::Node* node, std::size_t output, bool shares) {
  if (shares && run.code().shares_writes(node, node->outputs()[output])) {
    throw Unrecordable("a tensor is written to afterwards that is another one's memory on one way and not on another");
  }
}

using SidePtr = std::unique_ptr<Side>;

SidePtr side_of(const ScriptedRun& run, const Surroundings& around, jit::Block* block) {
  return on_some_data([&](BlockRecording::Data data) { return std::make_unique<Side>(run, around, block, data); });
}

std::pair<SidePtr, SidePtr> sides_of(const ScriptedRun& run, const Surroundings& around, jit::Node* node) {
  SidePtr yes;
  try {
    yes = side_of(run, around, node->blocks()[0]);
  } catch (const SideRaises& raised) {
    throw OneSideRaises(raised.what(), 1);
  }
  try {
    return {std::move(yes), side_of(run, around, node->blocks()[1])};
  } catch (const SideRaises& raised) {
    throw OneSideRaises(raised.what(), 0);
  }
}

}  // namespace

void record_branch(ScriptedRun& run, jit::Node* node) {
  const Surroundings around(run, node->blocks());
  const auto [first, second] = sides_of(run, around, node);
  Side& yes = *first;
  Side& no = *second;
  std::vector<BranchSlot> slots;
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    const auto slot = slot_of(i, yes.outputs[i], no.outputs[i]);
    if (!slot) continue;
    slots.push_back(*slot);
    const auto shares = [&](Side& side) {
      const ScriptedItem& item = side.outputs[i];
      return item.value.isTensor() && side.recording.part_of(item.value.toTensor()) < around.world.size();
    };
    check_sharing(run, node, i, shares(yes) || shares(no));
  }
  std::vector<std::size_t> written;
  for (std::size_t part = 0; part < around.world.size(); ++part) {
    if (yes.recording.is_written(part) || no.recording.is_written(part)) written.push_back(part);
  }
  const auto graph_of = [&](Side& side) {
    Tensors outputs;
    for (const BranchSlot& slot : slots) outputs.push_back(output_tensor(side.outputs[slot.output], slot));
    for (const std::size_t part : written) outputs.push_back(side.recording.content(part));
    return printed(side.recording.graph(outputs, parts_from(around.world.size())));
  };
  ControlCall call{{run.get(node->input()).twin}, {}, graph_of(yes), graph_of(no)};
  for (std::size_t part = 0; part < around.world.size(); ++part) call.operands.push_back(around.world.operand(part));
  for (const std::size_t part : written) call.written.push_back(around.world.operand(part));
  jit::Block* taken = node->blocks()[run.get(node->input()).value.toBool() ? 0 : 1];
  const Tensors results = call_control(call, [&] {
    run.run_quietly(*taken);
    Tensors given;
    for (const BranchSlot& slot : slots)
      given.push_back(result_tensor(run.get(taken->outputs()[slot.output]), slot.type));
    return apart(run, std::move(given), around.world);
  });
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    ScriptedItem item = run.get(taken->outputs()[i]);
    item.twin = at::Tensor();
    run.set(node->outputs()[i], std::move(item));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const jit::Value* output = node->outputs()[slots[i].output];
    // Set on the other side, it is set: what is recorded must not depend on which is taken.
    run.set(output, slots[i].number ? ScriptedItem{number_in(results[i]), results[i]} : ScriptedItem{results[i], {}});
  }
}

namespace {

// ---- Loops ----

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
        carried.initial = zeros_like_type(after.value.isTensor() ? type_of(after.value.toTensor())
                                                                 : ValueType{twin_type(after.value), {}});
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
      check_sharing(run_, node_, i, true);
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
  std::optional<Surroundings> around_;
  std::unique_ptr<BlockRecording> recording_;
  std::unique_ptr<ScriptedRun> inner_;
};

void LoopRecording::execute() {
  const ScriptedWorld& world = around_->world;
  std::vector<std::size_t> written;
  std::vector<std::size_t> others;
  for (std::size_t part = 0; part < world.size(); ++part) {
    (recording_->is_written(part) ? written : others).push_back(part);
  }
  std::vector<std::size_t> order = written;
  order.insert(order.end(), others.begin(), others.end());
  ControlCall call{{as_tensor(run_.get(node_->input(0))), as_tensor(run_.get(node_->input(1)))}, {}, "", ""};
  call.first = printed(recording_->graph(outputs(written), order));
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
  ScriptedWorld known = around_->world;
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
