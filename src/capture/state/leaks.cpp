// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "capture/hook/source_location.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {

Leak leak_of(const LeakSource& source, const ValueType& type, const ConstantCell& read) {
  Leak leak;
  leak.source = source;
  leak.type = type;
  leak.name = read.name;
  leak.location = read.location;
  return leak;
}

std::string title(const Leak& leak) {
  if (!leak.name.empty()) return fmt::format("'{}'", leak.name);
  if (leak.location == 0) return "a value without a name";
  return fmt::format("what is read{}", at_line(leak.location));
}

std::optional<LeakSource> source_of(const ConstantCell& cell, std::uint64_t pass) {
  if (!cell.provenance || cell.is_random()) return std::nullopt;
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

void LeakFinder::search(const std::vector<BranchCondition>& guards) {
  for (const BranchCondition& guard : guards) visit(guard.value);
  for (const MemoryEnd& end : call_.ends) visit(end.value);
  drain();
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
    random_ = random_ || op->random;
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
  for (const BufferTrace& buffer : call_.buffers) {
    const auto is_of_it = [&](const Leak& leak) { return leak.memory == buffer.memory && leak.name == buffer.name; };
    if (!buffer.declared || std::any_of(leaks_.begin(), leaks_.end(), is_of_it)) continue;
    const ValuePtr update = end_value(buffer, call_.activation, builder_);
    if (!update) continue;
    LeakFinder alone(call_, builder_, evaluator_);
    alone.visit(update);
    alone.drain();
    if (std::none_of(alone.leaks_.begin(), alone.leaks_.end(), is_of_it)) continue;
    visit(update);
    drain();
  }
}

bool LeakFinder::depends_on_state(const ValuePtr& value) const {
  LeakFinder alone(call_, builder_, evaluator_);
  alone.visit(value);
  alone.drain();
  return !alone.leaks_.empty();
}

void LeakFinder::visit_constant(const Use& use, const ValuePtr& value) {
  const ConstantCell& cell = *value->cell;
  if (cell.is_random() || visit_buffer(use, cell)) return;
  if (is_written_in_place(cell)) {
    const bool state = visit_memory(use, cell);
    const auto memory = cell.home.lock();
    // Memory that is gone when the call ends was given up for another tensor: what it held was kept as a value.
    if (state || !memory || memory->alive()) return;
  }
  if (const auto source = source_of(cell, call_.pass)) {
    leak_for(*source, value).uses.emplace(use, Geometry());
    return;
  }
  if (!visit_memory(use, cell) && cell.overwritten) unchanged_.emplace_back(use, value->cell);
}

// An earlier call of the node, which took another path, has left something there. Whether this one reads state is known
// when all paths are (state_slots.h).
bool LeakFinder::is_written_in_place(const ConstantCell& cell) const {
  if (call_.call == 0 || (call_.guards.empty() && !call_.is_variant) || !cell.provenance) return false;
  if (cell.provenance->kind != TracedKind::kFormer || cell.provenance->origin->node != call_.node) return false;
  const auto memory = cell.home.lock();
  return memory && memory->use().kept();
}

bool LeakFinder::visit_buffer(const Use& use, const ConstantCell& cell) {
  const BufferTrace* buffer = buffer_of(cell);
  const ValuePtr update = buffer ? end_value(*buffer, call_.activation, builder_) : nullptr;
  if (!update) return false;
  if (buffer->in_place && !buffer->memory->use().changed(cell, buffer->memory->bytes())) return false;
  Leak& leak = leak_in_memory(cell, buffer->geometry, update);
  leak.in_place = buffer->in_place;
  leak.name = buffer->name;
  leak.declared = buffer->declared;
  leak.read[call_.call] = buffer->content;
  leak.uses.emplace(use, cell.place);
  return true;
}

bool LeakFinder::visit_memory(const Use& use, const ConstantCell& cell) {
  const auto memory = cell.home.lock();
  // What is gone by the end of the call cannot be read by the next.
  if (!memory || !cell.overwritten || !memory->alive() || !memory->use().changed(cell, memory->bytes())) return false;
  const Geometry whole = memory->whole(cell.place.dtype);
  const ValuePtr update = end_value(*memory, whole, call_.activation, builder_);
  if (!update) return false;
  Leak& leak = leak_in_memory(cell, whole, update);
  leak.in_place = true;
  if (!leak.read.contains(call_.call)) leak.read[call_.call] = memory->content_before(leak.place);
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

const BufferTrace* LeakFinder::buffer_of(const ConstantCell& cell) const {
  const auto memory = cell.home.lock();
  const auto found = std::find_if(call_.buffers.begin(), call_.buffers.end(), [&](const BufferTrace& buffer) {
    return memory && buffer.memory == memory && contains(buffer.geometry, cell.place);
  });
  return found == call_.buffers.end() ? nullptr : &*found;
}

bool contains(const Geometry& outer, const Geometry& inner) {
  if (outer == inner) return true;
  return outer.dtype == inner.dtype && outer.element_count() > 0 && outer.row_major() &&
         inner.first_byte() >= outer.first_byte() && inner.end_byte() <= outer.end_byte();
}

ValuePtr end_value(const BufferTrace& buffer, ActivationId activation, TraceBuilder& builder) {
  if (buffer.in_place) return end_value(*buffer.memory, buffer.geometry, activation, builder);
  return buffer.successor ? buffer.successor() : nullptr;
}

ValuePtr end_value(Memory& memory, const Geometry& place, ActivationId activation, TraceBuilder& builder) {
  const ValuePtr value = memory.read(place, builder, activation);
  if (!value || !is_operand(*value) || (value->owner != 0 && value->owner != activation)) return nullptr;
  const bool own = value->kind == TracedKind::kConstant && value->cell->home.lock().get() == &memory;
  return own ? nullptr : value;
}

Leak& LeakFinder::leak_for(const LeakSource& source, const ValuePtr& value) {
  const auto found =
      std::find_if(leaks_.begin(), leaks_.end(), [&](const Leak& leak) { return leak.source == source; });
  if (found != leaks_.end()) return *found;
  Leak leak = leak_of(source, value->type, *value->cell);
  leak.read[call_.call] = evaluator_.value_of(value);
  leak.seen.push_back({call_.call, call_.pass, source});
  if (call_.is_variant) leak.values.emplace(std::pair(source.port, source.key), value);
  return leaks_.emplace_back(std::move(leak));
}

Leak& LeakFinder::leak_in_memory(const ConstantCell& cell, const Geometry& place, const ValuePtr& update) {
  const auto memory = cell.home.lock();
  const auto found = std::find_if(leaks_.begin(), leaks_.end(),
                                  [&](const Leak& leak) { return leak.memory == memory && leak.place == place; });
  if (found != leaks_.end()) return *found;
  Leak leak;
  leak.source = {call_.node, "", ValueKeys().of(update), 1};
  leak.memory = memory;
  leak.place = place;
  leak.type = {place.dtype, place.sizes};
  leak.update = update;
  leak.location = cell.location;
  leaks_.push_back(std::move(leak));
  visit(update);
  return leaks_.back();
}

}  // namespace leapp::capture
