// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/leaks.h"

#include <ATen/ScalarOps.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "capture/arguments.h"
#include "capture/hook.h"
#include "capture/op_info.h"
#include "capture/recorder.h"
#include "capture/value_key.h"

namespace leapp::capture {

std::optional<LeakSource> source_of(const ConstantCell& cell, std::uint64_t pass) {
  if (!cell.provenance || cell.random) return std::nullopt;
  const TracedValue& value = *cell.provenance;
  const Origin* origin = value.origin.get();
  if (value.kind == TracedKind::kPublished && !origin->constant)
    return LeakSource{origin->node, origin->port, 0, pass - origin->pass};
  if (value.kind == TracedKind::kFormer && !origin->part)
    return LeakSource{origin->node, "", origin->key, pass - origin->pass};
  return std::nullopt;
}

void LeakFinder::search(const std::vector<ValuePtr>& values) {
  for (const ValuePtr& value : values) visit(value);
  drain();
  search_declared();
  join_unchanged();
}

void LeakFinder::visit(const ValuePtr& value) {
  if (value->kind == TracedKind::kResult && seen_.emplace(value->op.get(), true).second)
    pending_.push_back(value->op.get());
}

void LeakFinder::drain() {
  while (!pending_.empty()) {
    TraceOp* op = pending_.back();
    pending_.pop_back();
    std::size_t operand = 0;
    for_each_operand(*op, [&](const ValuePtr& value) {
      visit(value);
      if (value->kind == TracedKind::kConstant) visit_constant({op, operand}, value);
      ++operand;
    });
  }
}

// Declared state that nothing but its own next value depends on: a counter, a running statistic.
void LeakFinder::search_declared() {
  for (const Place& place : places_) {
    const auto is_of_place = [&](const Leak& leak) { return leak.memory == place.memory && leak.name == place.name; };
    if (!place.declared || std::any_of(leaks_.begin(), leaks_.end(), is_of_place)) continue;
    const ValuePtr update = end_value(place, recorder_, activation_);
    if (!update) continue;
    LeakFinder alone(recorder_, activation_, pass_, places_);
    alone.visit(update);
    alone.drain();
    if (std::none_of(alone.leaks_.begin(), alone.leaks_.end(), is_of_place)) continue;
    visit(update);
    drain();
  }
}

bool LeakFinder::depends_on_state(const ValuePtr& value) const {
  LeakFinder alone(recorder_, activation_, pass_, places_);
  alone.visit(value);
  alone.drain();
  return !alone.leaks_.empty();
}

void LeakFinder::visit_constant(const Use& use, const ValuePtr& value) {
  const ConstantCell& cell = *value->cell;
  if (cell.random || visit_place(use, cell)) return;
  if (const auto source = source_of(cell, pass_)) {
    leak_for(*source, value).uses.emplace(use, Geometry());
    return;
  }
  if (!visit_memory(use, cell) && cell.overwritten) unchanged_.emplace_back(use, value->cell);
}

bool LeakFinder::visit_place(const Use& use, const ConstantCell& cell) {
  const Place* place = place_of(cell);
  const ValuePtr update = place ? end_value(*place, recorder_, activation_) : nullptr;
  if (!update) return false;
  const bool in_place = place->at_end.is_same(place->tensor);
  if (in_place && !place->memory->changed(cell)) return false;
  Leak& leak = leak_in_memory(cell, place->geometry, update);
  leak.in_place = in_place;
  leak.name = place->name;
  leak.declared = place->declared;
  leak.read[0] = place->content;
  leak.uses.emplace(use, cell.place);
  return true;
}

bool LeakFinder::visit_memory(const Use& use, const ConstantCell& cell) {
  const auto memory = cell.home.lock();
  // What is gone by the end of the call cannot be read by the next.
  if (!memory || !cell.overwritten || !memory->alive() || !memory->changed(cell)) return false;
  const Geometry whole = memory->whole(cell.place.dtype);
  const ValuePtr update = end_value(*memory, whole, recorder_, activation_);
  if (!update) return false;
  Leak& leak = leak_in_memory(cell, whole, update);
  leak.in_place = true;
  leak.read.try_emplace(0, dense_copy(memory->before(leak.place)));
  if (leak.name.empty()) leak.name = cell.name;
  leak.uses.emplace(use, cell.place);
  return true;
}

// Of memory that is state, also what happens to stay the same is read from the state.
void LeakFinder::join_unchanged() {
  for (const auto& [use, cell] : unchanged_) {
    for (Leak& leak : leaks_) {
      if (leak.in_place && leak.memory == cell->home.lock() && contains(leak.place, cell->place))
        leak.uses.emplace(use, cell->place);
    }
  }
}

const Place* LeakFinder::place_of(const ConstantCell& cell) const {
  const auto memory = cell.home.lock();
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
    return memory && place.memory == memory && contains(place.geometry, cell.place);
  });
  return found == places_.end() ? nullptr : &*found;
}

bool contains(const Geometry& outer, const Geometry& inner) {
  if (outer == inner) return true;
  return outer.dtype == inner.dtype && outer.element_count() > 0 && outer.row_major() &&
         inner.first_byte() >= outer.first_byte() && inner.end_byte() <= outer.end_byte();
}

ValuePtr end_value(const Place& place, Recorder& recorder, ActivationId activation) {
  const Suppress quiet;
  if (!place.at_end.defined()) return nullptr;
  if (place.at_end.is_same(place.tensor)) return end_value(*place.memory, place.geometry, recorder, activation);
  const bool fits =
      place.at_end.sizes() == place.tensor.sizes() && place.at_end.scalar_type() == place.tensor.scalar_type();
  return fits ? recorder.table().operand(place.at_end, activation) : nullptr;
}

ValuePtr end_value(StorageContent& memory, const Geometry& place, Recorder& recorder, ActivationId activation) {
  const ValuePtr value = memory.read(place, recorder.builder(), activation);
  if (!value || !is_operand(*value) || (value->owner != 0 && value->owner != activation)) return nullptr;
  const bool own = value->kind == TracedKind::kConstant && value->cell->home.lock().get() == &memory;
  return own ? nullptr : value;
}

Leak& LeakFinder::leak_for(const LeakSource& source, const ValuePtr& value) {
  const auto found =
      std::find_if(leaks_.begin(), leaks_.end(), [&](const Leak& leak) { return leak.source == source; });
  if (found != leaks_.end()) return *found;
  Leak leak;
  leak.source = source;
  leak.type = value->type;
  leak.name = value->cell->name;
  leak.location = value->cell->location;
  leak.read[0] = constant_value(value);
  return leaks_.emplace_back(std::move(leak));
}

Leak& LeakFinder::leak_in_memory(const ConstantCell& cell, const Geometry& place, const ValuePtr& update) {
  const auto memory = cell.home.lock();
  const auto found = std::find_if(leaks_.begin(), leaks_.end(),
                                  [&](const Leak& leak) { return leak.memory == memory && leak.place == place; });
  if (found != leaks_.end()) return *found;
  Leak leak;
  leak.source = {recorder_.name_of(activation_), "", ValueKeys().of(update), 1};
  leak.memory = memory;
  leak.place = place;
  leak.type = {place.dtype, place.sizes};
  leak.update = update;
  leak.location = cell.location;
  leaks_.push_back(std::move(leak));
  visit(update);
  return leaks_.back();
}

namespace {

c10::IValue stack_value(const TraceArgument& argument, const c10::Argument& schema) {
  if (argument.kind == TraceArgument::Kind::kTensor) return constant_value(argument.tensor);
  if (argument.kind == TraceArgument::Kind::kAttribute) {
    const bool number = argument.attribute.isScalar() && schema.type()->isSubtypeOf(*c10::TensorType::get());
    if (!number) return argument.attribute;
    at::Tensor wrapped = c10::scalar_to_tensor(argument.attribute.toScalar());
    wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
    return wrapped;
  }
  const auto list = schema.real_type()->cast<c10::ListType>();
  if (list && list->getElementType()->kind() == c10::TypeKind::OptionalType) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const ValuePtr& item : argument.list)
      tensors.push_back(item ? std::optional(constant_value(item)) : std::nullopt);
    return tensors;
  }
  c10::List<at::Tensor> tensors;
  for (const ValuePtr& item : argument.list) tensors.push_back(constant_value(item));
  return tensors;
}

}  // namespace

at::Tensor constant_value(const ValuePtr& value) {
  const Suppress quiet;
  if (value->kind == TracedKind::kConstant) return value->cell->tensor.clone(at::MemoryFormat::Contiguous);
  TORCH_CHECK(value->kind == TracedKind::kResult, "not a constant");
  const TraceOp& op = *value->op;
  const auto& schema = op.info->schema().arguments();
  std::vector<c10::IValue> stack;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) stack.push_back(stack_value(op.arguments[i], schema[i]));
  op.info->run(stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& result : stack) {
    if (result.isTensor()) results.push_back(result.toTensor());
    if (!is_tensor_list(result)) continue;
    for (const c10::IValue& item : result.toListRef()) results.push_back(item.toTensor());
  }
  return results.at(value->index).clone(at::MemoryFormat::Contiguous);
}

}  // namespace leapp::capture
