// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/draws.h"

#include <algorithm>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

template <typename Holds>
bool any_draw(const ValuePtr& value, Holds holds) {
  if (value->kind != TracedKind::kResult) return false;
  const Slice slice = slice_of({value});
  return std::any_of(slice.ops.begin(), slice.ops.end(),
                     [&](const TraceOp* op) { return op->random && holds(op->draw); });
}

using Later = Draw::Later;

bool is_same_in_every_call(const Draw& draw) { return draw.is_kept() || draw.later == Later::kSame; }

void note_read_again(const TraceOp& op) {
  Later& later = const_cast<TraceOp&>(op).draw.later;
  later = later == Later::kAnew || later == Later::kMixed ? Later::kMixed : Later::kKept;
}

void note_drawn_again(Draw& draw, bool same) {
  if (!same) {
    draw.later = draw.is_kept() ? Later::kMixed : Later::kAnew;
  } else if (draw.later == Later::kUnknown || draw.later == Later::kAlways) {
    draw.later = Later::kSame;
  }
}

/// Of the only call of a node: a constant that says where it was drawn.
void note_drawn_once(const TracedValue& value) {
  ConstantCell& cell = *value.drawn;
  cell.drawn = Drawn::kOnce;
  cell.provenance =
      make_value(TracedKind::kDrawn, {}, {.node = value.op->info->qualified_name(), .location = value.op->location});
  if (cell.location == 0) cell.location = value.op->location;
}

void settle_value(ValuePtr& value, bool once) {
  if (!value->drawn) return;
  const bool same = any_draw(value, is_same_in_every_call);
  if (!same && (!once || any_draw(value, [](const Draw& draw) { return draw.later == Later::kAlways; }))) return;
  if (same) {
    value->drawn->drawn = Drawn::kSettled;
  } else {
    note_drawn_once(*value);
  }
  value = make_constant(value->drawn);
}

/// Everything that the record keeps of the first call.
std::vector<ValuePtr*> slots_of(NodeRecord& node) {
  std::vector<ValuePtr*> slots;
  for (ValuePtr& value : node.output_values) slots.push_back(&value);
  for (auto& [key, value] : node.survivors) slots.push_back(&value);
  for (BranchCondition& guard : node.guards) slots.push_back(&guard.value);
  for (MemoryEnd& end : node.ends) slots.push_back(&end.value);
  for (Leak& leak : node.leaks) {
    if (leak.update) slots.push_back(&leak.update);
  }
  return slots;
}

}  // namespace

bool is_drawn_anew(const ValuePtr& value) {
  return any_draw(value, [](const Draw& draw) { return draw.is_anew(); });
}

std::vector<const TraceOp*> keep_draws_of_others(const std::vector<ValuePtr>& values, ActivationId call) {
  std::vector<const TraceOp*> found;
  for (const TraceOp* op : slice_of(values).ops) {
    if (!op->random || op->draw.call == 0 || op->draw.call == call) continue;
    note_read_again(*op);
    found.push_back(op);
  }
  return found;
}

void note_kept(const ValuePtr& value) {
  if (value->kind != TracedKind::kResult) return;
  for (const TraceOp* op : slice_of({value}).ops) {
    if (op->random) note_read_again(*op);
  }
}

bool note_draw(TraceOp& first, const TraceOp& now) {
  if (!first.random || !now.random) return true;
  const bool same = first.draw.generator != 0 && first.draw.generator == now.draw.generator;
  note_drawn_again(first.draw, same);
  return same || !first.draw.is_kept();
}

void settle_draws(NodeRecord& node) {
  const bool once = node.calls == 1;
  std::vector<ValuePtr> values;
  for (ValuePtr* slot : slots_of(node)) {
    settle_value(*slot, once);
    values.push_back(*slot);
  }
  const auto settle = [once](ValuePtr& value) { settle_value(value, once); };
  for (const TraceOp* op : slice_of(values).ops) for_each_operand(const_cast<TraceOp&>(*op), settle);
  for (const auto& other : node.others) settle_draws(*other);
}

}  // namespace leapp::capture
