// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/path_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "capture/branches/path_reads.h"
#include "capture/state/constant_outputs.h"

namespace leapp::capture {

PathJoin::PathJoin(NodeRecord& node, const std::vector<NodeRecord*>& paths, const DecisionTree& tree,
                   const std::vector<StateSlot>& slots, TraceBuilder& builder)
    : node_(node), paths_(paths), tree_(tree), builder_(builder), states_(operands_of(slots)), numbers_(states_) {
  for (const NodeRecord* path : paths_) numbers_.add(roots_of(*path));
  node_.joined = numbers_.results();
  for (const NodeRecord* path : paths_) {
    PathAnswers& added = answers_.emplace_back(PathAnswers{{}, path->guards});
    for (const BranchCondition& guard : path->guards) added.conditions.push_back(stands_for(guard.value));
  }
}

// Of what was set apart only what turned out to be state needs its operator.
ValuePtr PathJoin::stands_for(const ValuePtr& value) {
  const bool state = is_set_apart(*value) && states_.contains({value->op.get(), 0});
  return numbers_.of(state ? value : bare(value));
}

const PathChoice& PathJoin::choose_between(const std::vector<ValuePtr>& values, const std::string& what) {
  std::vector<PathGuard> unproven;
  choices_.push_back(choose(tree_, values, answers_, &unproven));
  for (const PathGuard& guard : unproven) {
    if (!answers_[guard.path].guards[guard.guard].phase) unproven_.emplace_back(guard, what);
  }
  return *choices_.back();
}

void PathJoin::join_outputs() {
  for (std::size_t i = 0; i < node_.output_values.size(); ++i) {
    std::vector<ValuePtr> values;
    for (const NodeRecord* path : paths_) values.push_back(stands_for(path->output_values[i]));
    const ValuePtr chosen = emit(choose_between(values, fmt::format("output '{}'", node_.outputs[i].name)), builder_);
    node_.output_values[i] = is_constant(*chosen) ? set_apart(chosen, builder_) : chosen;
  }
}

Leak PathJoin::join_state(StateSlot slot) {
  // In the place of what a path leaves alone: promote.h puts the state itself there.
  const ValuePtr found = make_value(TracedKind::kInput, slot.leak.type, {.port = ""});
  std::vector<ValuePtr> values;
  for (const ValuePtr& next : slot.next) values.push_back(next ? shaped(stands_for(next), slot.leak) : found);
  const PathChoice& choice = choose_between(values, fmt::format("state '{}'", slot.leak.name));
  return join(std::move(slot.leak), choice, found);
}

// One value for each, so that ways which leave the same still do.
ValuePtr PathJoin::shaped(const ValuePtr& value, const Leak& leak) {
  if (value->type == leak.type) return value;
  ValuePtr& made = shaped_[{value, leak.type.sizes}];
  if (!made) made = builder_.reshape(value, leak.type.sizes);
  return made;
}

// What a path leaves alone has to be an operand of something for promote.h to find it.
Leak PathJoin::join(Leak leak, const PathChoice& choice, const ValuePtr& found) {
  leak.update = emit(choice, builder_);
  if (leak.update == found) leak.update = builder_.unary("aten::alias", found);
  std::set<const TraceOp*> seen;
  const std::function<void(const ValuePtr&)> note = [&](const ValuePtr& value) {
    if (value->kind != TracedKind::kResult || value->op->sequence < kAfterPaths || !seen.insert(value->op.get()).second)
      return;
    std::size_t operand = 0;
    for_each_operand(*value->op, [&](const ValuePtr& read) {
      if (read == found) leak.uses.emplace(Use{value->op.get(), operand}, leak.memory ? leak.place : Geometry());
      note(read);
      ++operand;
    });
  };
  note(leak.update);
  // An output is that state only where every path leaves it.
  const bool is_output = std::any_of(node_.output_values.begin(), node_.output_values.end(),
                                     [&](const ValuePtr& value) { return bare(value) == leak.update; });
  if (!is_output) leak.source.port.clear();
  return leak;
}

}  // namespace leapp::capture
