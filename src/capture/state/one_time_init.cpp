// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/one_time_init.h"

#include <algorithm>
#include <set>
#include <vector>

#include "capture/state/draws.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

using OpSet = std::set<const TraceOp*>;

OpSet ops_behind(const ValuePtr& value) {
  const Slice slice = slice_of({value});
  return {slice.ops.begin(), slice.ops.end()};
}

}  // namespace

void OneTimeInit::look_at(const Leak& leak, const ValuePtr& update) {
  if (!leak.in_place) return;
  Later& later = later_[leak.memory.get()];
  (update ? later.wrote : later.left_alone) = true;
}

bool OneTimeInit::is_written_once(const Leak& leak) const {
  const auto later = leak.in_place ? later_.find(leak.memory.get()) : later_.end();
  return later != later_.end() && later->second.left_alone && !later->second.wrote;
}

bool OneTimeInit::was_prepared(const Leak& leak, const std::vector<Leak>& all) const {
  if (leak.declared || !is_written_once(leak) || !leak.update || !is_constant(*leak.update)) return false;
  const OpSet ops = ops_behind(leak.update);
  const auto is_inside = [&](const auto& use) { return ops.contains(use.first.op); };
  // What was there before is read for what comes after it, and for nothing else; no other state goes into it.
  if (!std::all_of(leak.uses.begin(), leak.uses.end(), is_inside)) return false;
  return std::none_of(all.begin(), all.end(), [&](const Leak& other) {
    return !is_written_once(other) && std::any_of(other.uses.begin(), other.uses.end(), is_inside);
  });
}

void OneTimeInit::forget_leaks_of(NodeRecord& node) const {
  if (!node.guards.empty()) return;  // what a path leaves for others is found out there (state_slots.h)
  std::vector<bool> prepared;
  for (const Leak& leak : node.leaks) {
    prepared.push_back(was_prepared(leak, node.leaks));
    if (prepared.back()) note_kept(leak.update);
  }
  std::size_t index = 0;
  std::erase_if(node.leaks, [&](const Leak&) { return prepared[index++]; });
}

}  // namespace leapp::capture
