// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/state_beginnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capture/branches/path_reads.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

bool reads(const NodeRecord& path, const StateSlot& slot) {
  const Slice slice = slice_of(roots_of(path));
  const std::set<const TraceOp*> ops(slice.ops.begin(), slice.ops.end());
  return std::any_of(slot.leak.uses.begin(), slot.leak.uses.end(),
                     [&](const auto& use) { return ops.contains(use.first.op); });
}

bool is_known_at_first(const ValuePtr& value, const std::vector<StateSlot>& slots) {
  if (bare(value)->kind == TracedKind::kInput) return false;
  bool known = true;
  for (const TraceOp* op : slice_of({value}).ops) {
    std::size_t operand = 0;
    known = known && !op->random;
    for_each_operand(*op, [&](const ValuePtr& read) {
      const Use use{const_cast<TraceOp*>(op), operand++};
      known = known && read->kind != TracedKind::kInput &&
              std::none_of(slots.begin(), slots.end(), [&](const StateSlot& slot) {
                return (slot.unknown_beginning || !slot.own) && slot.leak.uses.contains(use);
              });
    });
  }
  return known;
}

// It parts from the first call's way where nothing but state decides, which no input changes before the first step.
bool is_later_way(const NodeRecord& path, const NodeRecord& first, const std::vector<StateSlot>& slots) {
  const std::size_t common = std::min(path.guards.size(), first.guards.size());
  for (std::size_t i = 0; i < common; ++i) {
    const BranchCondition& guard = path.guards[i];
    if (!same_question(guard, first.guards[i])) return false;
    if (guard.taken == first.guards[i].taken || guard.either || first.guards[i].either) continue;
    return is_known_at_first(guard.value, slots);
  }
  return false;
}

}  // namespace

// Ways that do not set it, or read it, are decided by state, as it is then.
bool is_set_first(const StateSlot& slot, const std::vector<StateSlot>& slots, const std::vector<NodeRecord*>& paths) {
  for (std::size_t path = 0; path < paths.size(); ++path) {
    const bool sets = slot.own && slot.next[path] && !reads(*paths[path], slot);
    if (!sets && !is_later_way(*paths[path], *paths[0], slots)) return false;
  }
  return true;
}

std::string unknown_beginning_text(const std::string& node, const Leak& leak) {
  const std::string first =
      leak.read.empty() ? "nothing" : fmt::format("what call {} found there", leak.read.begin()->first);
  return fmt::format(
      "{}node '{}' keeps {}, and no call shows what was in it at the beginning: the model begins with "
      "{}. Run a first pass that reads it before it is set",
      line_prefix(leak.location), node, leak.name.empty() ? "a tensor" : "'" + leak.name + "'", first);
}

}  // namespace leapp::capture
