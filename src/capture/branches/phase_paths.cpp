// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_paths.h"

#include <algorithm>
#include <limits>
#include <string>

#include "capture/branches/decision_tree.h"
#include "capture/branches/path_reads.h"
#include "capture/branches/unguarded_variants.h"
#include "capture/hook/op_info.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

std::vector<std::unique_ptr<NodeRecord>> ways_of_node(const NodeRecord& node) {
  std::vector<std::unique_ptr<NodeRecord>> found;
  const auto add = [&](const NodeRecord& path) {
    if (path.variants.variants.empty()) return found.push_back(copy_of_way(path));
    for (const auto& way : path.variants.variants) found.push_back(copy_of_way(*way));
    for (std::size_t i = 0; i < path.guards.size(); ++i) {
      // Rows that turned out to be no question after the way had been copied.
      for (std::size_t way = found.size() - path.variants.variants.size(); way < found.size(); ++way)
        found[way]->guards[i].either = found[way]->guards[i].either || path.guards[i].either;
    }
  };
  add(node);
  for (const auto& other : node.others) add(*other);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->first_call < b->first_call; });
  return found;
}

bool has_ways(const NodeRecord& node) {
  const auto several = [](const NodeRecord& path) {
    return path.variants.diverged && path.variants.variants.size() > 1;
  };
  const auto lost = [](const NodeRecord& path) { return path.variants.given_up; };
  if (lost(node) || !node.not_kept.empty()) return false;
  if (std::any_of(node.others.begin(), node.others.end(), [&](const auto& other) { return lost(*other); }))
    return false;
  return several(node) ||
         std::any_of(node.others.begin(), node.others.end(), [&](const auto& other) { return several(*other); });
}

}  // namespace

std::unique_ptr<PhasePaths> PhasePaths::find(const NodeRecord& node) {
  if (!has_ways(node)) return nullptr;
  std::unique_ptr<PhasePaths> found(new PhasePaths(ways_of_node(node)));
  if (!found->find_schedule_of(node.calls) || !found->ask_for_phases()) return nullptr;
  if (!found->split_reads()) {
    found->undo();
    return nullptr;
  }
  return found;
}

bool PhasePaths::find_schedule_of(std::size_t calls) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  way_of_call_.assign(calls, kNone);
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    for (const auto& [call, pass] : ways_[way]->taken) {
      if (call < calls) way_of_call_[call] = way;
      way_in_[pass] = way;
    }
  }
  if (std::find(way_of_call_.begin(), way_of_call_.end(), kNone) != way_of_call_.end()) return false;
  const auto found = find_schedule(way_of_call_, [&](const std::set<std::size_t>& ways) { return is_decided(ways); });
  if (!found || found->count() < 2) return false;
  schedule_ = *found;
  return true;
}

bool PhasePaths::is_decided(const std::set<std::size_t>& ways) const {
  DecisionTree tree;
  std::size_t path = 0;
  return std::all_of(ways.begin(), ways.end(), [&](std::size_t way) { return tree.add(path++, ways_[way]->guards); });
}

// Each group of phases has ways of its own: one that comes in two of them is not told apart by anything here.
bool PhasePaths::ask_for_phases() {
  const auto ways_of = ways_by_phase(schedule_, way_of_call_);
  groups_ = group_phases(ways_of, [&](const std::set<std::size_t>& ways) { return is_decided(ways); });
  group_of_.assign(ways_.size(), 0);
  std::vector<std::vector<BranchCondition>> asked(ways_.size());
  std::vector<bool> known(ways_.size(), false);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    std::set<std::size_t> ways;
    for (const std::size_t phase : groups_[group]) ways.insert(ways_of[phase].begin(), ways_of[phase].end());
    for (const std::size_t way : ways) {
      if (known[way]) return false;
      known[way] = true;
      group_of_[way] = group;
      for (std::size_t i = 0; i < std::min(group + 1, groups_.size() - 1); ++i) {
        const ValuePtr value = number_.is_one_of(groups_[i]);
        asked[way].push_back({.op = value->op, .taken = i == group, .value = value, .phase = true});
      }
    }
  }
  for (std::size_t way = 0; way < ways_.size(); ++way)
    ways_[way]->guards.insert(ways_[way]->guards.begin(), asked[way].begin(), asked[way].end());
  return true;
}

bool PhasePaths::split_reads() {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    std::vector<NodeRecord*> ways;
    for (std::size_t way = 0; way < ways_.size(); ++way) {
      if (group_of_[way] == group) ways.push_back(ways_[way].get());
    }
    if (!reads_.split(ways, groups_[group])) return false;
  }
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    for (const TraceOp* op : slice_of(roots_of(*ways_[way])).ops) way_of_[op] = way;
  }
  return true;
}

std::vector<NodeRecord*> PhasePaths::paths() const {
  std::vector<NodeRecord*> found;
  for (const auto& way : ways_) found.push_back(way.get());
  return found;
}

Phases PhasePaths::phases_that_read(const std::map<Use, Geometry>& uses) const {
  Phases found;
  for (const auto& [use, place] : uses) {
    if (const Phases* chosen = reads_.phases_of(use)) {
      found.insert(chosen->begin(), chosen->end());
      continue;
    }
    const auto way = way_of_.find(use.op);
    if (way == way_of_.end()) continue;
    for (const auto& [call, pass] : ways_[way->second]->taken) found.insert(schedule_.phase_of(call));
  }
  return found;
}

bool PhasePaths::is_set_from(std::size_t phase, const Phases& reading, const std::vector<bool>& sets) const {
  const auto ways_of = ways_by_phase(schedule_, way_of_call_);
  for (std::size_t i = 0; i < schedule_.count(); ++i) {
    if (reading.contains(phase)) return false;
    if (std::all_of(ways_of[phase].begin(), ways_of[phase].end(), [&](std::size_t way) { return sets[way]; }))
      return true;
    phase = phase + 1 < schedule_.count() ? phase + 1 : schedule_.warm_up;
  }
  return true;  // nobody reads it at all
}

bool PhasePaths::is_set_first(const std::map<Use, Geometry>& uses, const std::vector<bool>& sets) const {
  return is_set_from(0, phases_that_read(uses), sets);
}

bool PhasePaths::is_set_after(std::size_t path, const std::map<Use, Geometry>& uses,
                              const std::vector<bool>& sets) const {
  const Phases reading = phases_that_read(uses);
  return std::all_of(ways_[path]->taken.begin(), ways_[path]->taken.end(), [&](const auto& taken) {
    return is_set_from(schedule_.phase_of(taken.first + 1), reading, sets);
  });
}

}  // namespace leapp::capture
