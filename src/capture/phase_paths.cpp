// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/phase_paths.h"

#include <algorithm>
#include <limits>
#include <string>

#include "capture/decision_tree.h"
#include "capture/op_info.h"
#include "capture/path_reads.h"
#include "capture/slice.h"
#include "capture/ways.h"

namespace leapp::capture {
namespace {

constexpr ActivationId kPhaseOwner = std::numeric_limits<ActivationId>::max();  // it is no constant

std::vector<std::unique_ptr<NodeRecord>> ways_of_node(const NodeRecord& node) {
  std::vector<std::unique_ptr<NodeRecord>> found;
  const auto add = [&](const NodeRecord& path) {
    if (path.ways.ways.empty()) return found.push_back(copy_of_way(path));
    for (const auto& way : path.ways.ways) found.push_back(copy_of_way(*way));
    for (std::size_t i = 0; i < path.guards.size(); ++i) {
      // Rows that turned out to be no question after the way had been copied.
      for (std::size_t way = found.size() - path.ways.ways.size(); way < found.size(); ++way)
        found[way]->guards[i].either = found[way]->guards[i].either || path.guards[i].either;
    }
  };
  add(node);
  for (const auto& other : node.others) add(*other);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->first_call < b->first_call; });
  return found;
}

bool has_ways(const NodeRecord& node) {
  const auto several = [](const NodeRecord& path) { return path.ways.diverged && path.ways.ways.size() > 1; };
  const auto lost = [](const NodeRecord& path) { return path.ways.given_up; };
  if (lost(node) || !node.not_kept.empty()) return false;
  if (std::any_of(node.others.begin(), node.others.end(), [&](const auto& other) { return lost(*other); }))
    return false;
  return several(node) ||
         std::any_of(node.others.begin(), node.others.end(), [&](const auto& other) { return several(*other); });
}

void put_operand(const Use& use, const ValuePtr& value) {
  std::size_t operand = 0;
  for_each_operand(*use.op, [&](ValuePtr& slot) {
    if (operand++ == use.operand) slot = value;
  });
}

ValuePtr operand_of(const Use& use) {
  ValuePtr found;
  std::size_t operand = 0;
  for_each_operand(*use.op, [&](const ValuePtr& value) {
    if (operand++ == use.operand) found = value;
  });
  return found;
}

}  // namespace

PhasePaths::PhasePaths(std::vector<std::unique_ptr<NodeRecord>> ways)
    : ways_(std::move(ways)), builder_([](auto&&...) {}, 0) {
  Origin origin;
  origin.port = "the phase of the calls";
  phase_ = make_value(TracedKind::kInput, {at::kLong, {}}, std::move(origin));
  phase_->owner = kPhaseOwner;
}

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
      call_in_[pass] = call;
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
  std::vector<std::vector<Guard>> asked(ways_.size());
  std::vector<bool> known(ways_.size(), false);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    std::set<std::size_t> ways;
    for (const std::size_t phase : groups_[group]) ways.insert(ways_of[phase].begin(), ways_of[phase].end());
    for (const std::size_t way : ways) {
      if (known[way]) return false;
      known[way] = true;
      group_of_[way] = group;
      for (std::size_t i = 0; i < std::min(group + 1, groups_.size() - 1); ++i) {
        const ValuePtr value = condition(groups_[i]);
        asked[way].push_back({.op = value->op, .taken = i == group, .value = value, .phase = true});
      }
    }
  }
  for (std::size_t way = 0; way < ways_.size(); ++way)
    ways_[way]->guards.insert(ways_[way]->guards.begin(), asked[way].begin(), asked[way].end());
  return true;
}

ValuePtr PhasePaths::condition(const Phases& phases) {
  ValuePtr& known = conditions_[phases];
  if (known) return known;
  const auto make = [&](const char* name, const char* overload, std::vector<TraceArgument> arguments) {
    return builder_.result(builder_.make(op_info(name, overload), std::move(arguments)), 0, {at::kBool, {}});
  };
  ValuePtr any;
  for (const std::size_t phase : phases) {
    const ValuePtr is =
        make("aten::eq", "Scalar",
             {TraceArgument::of(phase_), TraceArgument::of(c10::IValue(static_cast<std::int64_t>(phase)))});
    any = any ? make("aten::logical_or", "", {TraceArgument::of(any), TraceArgument::of(is)}) : is;
  }
  return known = any;
}

bool PhasePaths::split_reads() {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    look_at_reads(group);
    for (std::size_t way = 0; way < ways_.size(); ++way) {
      if (group_of_[way] == group && !split_reads_of(*ways_[way], group)) return false;
    }
  }
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    for (const TraceOp* op : slice_of(roots_of(*ways_[way])).ops) way_of_[op] = way;
  }
  return true;
}

// Ways that data decides between have places of the program in common: what one of them found there in a phase that
// another was not seen in is what that would find.
void PhasePaths::look_at_reads(std::size_t group) {
  points_.clear();
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    if (group_of_[way] != group) continue;
    const PathReads points(*ways_[way]);
    for (const Leak& leak : ways_[way]->leaks) {
      if (leak.memory || leak.source.node != ways_[way]->name) continue;
      for (const auto& [use, place] : leak.uses) {
        if (const Point* point = points.point_of(use)) look_at(leak, points_[*point]);
      }
    }
  }
}

void PhasePaths::look_at(const Leak& leak, PointReads& reads) const {
  for (const Leak::Seen& seen : leak.seen) {
    if (seen.fresh || seen.source.node != leak.source.node) continue;
    const auto way = way_in_.find(seen.pass - seen.source.delay);
    const Kept what{seen.source.port, seen.source.key};
    const auto value = leak.values.find(what);
    if (way == way_in_.end() || value == leak.values.end()) {
      reads.agree = false;
      continue;
    }
    const std::size_t phase = schedule_.phase_of(seen.call);
    ReadClass& read = reads.by_phase.try_emplace(phase, ReadClass{{phase}, {}, seen, value->second}).first->second;
    if (read.left.try_emplace(way->second, what).first->second != what) reads.agree = false;
  }
}

bool PhasePaths::split_reads_of(NodeRecord& way, std::size_t group) {
  const PathReads points(way);
  std::vector<Leak> leaks;
  for (const Leak& leak : way.leaks) {
    if (leak.memory || leak.source.node != way.name) {
      leaks.push_back(leak);
      continue;
    }
    const auto classes = classes_of(leak, points);
    if (!classes) return false;
    if (!classes->empty() && !covers(*classes, group)) unseen_.insert(leak.location);
    classes->size() < 2 ? leaks.push_back(leak) : split(leak, *classes, leaks);
  }
  way.leaks = std::move(leaks);
  return true;
}

// Nothing: in one phase it reads now this, now that.
std::optional<std::vector<PhasePaths::ReadClass>> PhasePaths::classes_of(const Leak& leak,
                                                                         const PathReads& points) const {
  std::map<std::size_t, ReadClass> by_phase;
  for (const auto& [use, place] : leak.uses) {
    const Point* point = points.point_of(use);
    const auto reads = point ? points_.find(*point) : points_.end();
    if (reads == points_.end()) continue;
    if (!reads->second.agree) return std::nullopt;
    for (const auto& [phase, read] : reads->second.by_phase) {
      ReadClass& known = by_phase.try_emplace(phase, read).first->second;
      for (const auto& [way, what] : read.left) {
        if (known.left.try_emplace(way, what).first->second != what) return std::nullopt;
      }
    }
  }
  std::vector<ReadClass> classes;
  for (auto& [phase, read] : by_phase) {
    const auto agrees = [&](const ReadClass& other) {
      return std::all_of(read.left.begin(), read.left.end(), [&](const auto& left) {
        const auto same = other.left.find(left.first);
        return same == other.left.end() || same->second == left.second;
      });
    };
    const auto found = std::find_if(classes.begin(), classes.end(), agrees);
    if (found == classes.end()) {
      classes.push_back(std::move(read));
    } else {
      found->phases.insert(phase);
      found->left.insert(read.left.begin(), read.left.end());
    }
  }
  return classes;
}

// Whether it is known what it reads in all phases in which it may be read.
bool PhasePaths::covers(const std::vector<ReadClass>& classes, std::size_t group) const {
  return std::all_of(groups_[group].begin(), groups_[group].end(), [&](std::size_t phase) {
    return std::any_of(classes.begin(), classes.end(),
                       [&](const ReadClass& one) { return one.phases.contains(phase); });
  });
}

void PhasePaths::split(const Leak& leak, const std::vector<ReadClass>& classes, std::vector<Leak>& made) {
  builder_.set_location(leak.location);
  ValuePtr chosen;
  std::vector<Leak> parts;
  for (const ReadClass& one : classes) {
    Leak& part = parts.emplace_back(leak);
    part.uses.clear();
    const auto elsewhere = [&](std::size_t call) { return !one.phases.contains(schedule_.phase_of(call)); };
    std::erase_if(part.seen, [&](const Leak::Seen& seen) { return elsewhere(seen.call); });
    std::erase_if(part.read, [&](const auto& read) { return elsewhere(read.first); });
    part.next.clear();
    part.source = one.seen.source;
    if (part.seen.empty()) part.seen.push_back(one.seen);
    if (!chosen) {
      chosen = one.value;
      continue;
    }
    chosen = builder_.where(condition(one.phases), one.value, chosen);
    part.uses.emplace(Use{chosen->op.get(), 1}, Geometry());
    chosen_[Use{chosen->op.get(), 1}] = one.phases;
    if (parts.size() > 2) continue;
    parts[0].uses.emplace(Use{chosen->op.get(), 2}, Geometry());
    chosen_[Use{chosen->op.get(), 2}] = classes[0].phases;
  }
  for (const auto& [use, place] : leak.uses) {
    replaced_.emplace_back(use, operand_of(use));
    put_operand(use, chosen);
  }
  for (Leak& part : parts) made.push_back(std::move(part));
}

void PhasePaths::undo() {
  for (auto at = replaced_.rbegin(); at != replaced_.rend(); ++at) put_operand(at->first, at->second);
  replaced_.clear();
}

std::vector<NodeRecord*> PhasePaths::paths() const {
  std::vector<NodeRecord*> found;
  for (const auto& way : ways_) found.push_back(way.get());
  return found;
}

ValuePtr PhasePaths::next(TraceBuilder& builder) const {
  const auto number = [](std::size_t value) {
    return TraceArgument::of(c10::IValue(static_cast<std::int64_t>(value)));
  };
  const auto make = [&](const char* name, const char* overload, std::vector<TraceArgument> arguments,
                        at::ScalarType dtype) {
    return builder.result(builder.make(op_info(name, overload), std::move(arguments)), 0, {dtype, {}});
  };
  const ValuePtr up = make("aten::add", "Scalar", {TraceArgument::of(phase_), number(1), number(1)}, at::kLong);
  if (schedule_.warm_up == 0)
    return make("aten::remainder", "Scalar", {TraceArgument::of(up), number(schedule_.period)}, at::kLong);
  // The phases of the beginning do not come again.
  const ValuePtr over = builder.cast(
      make("aten::ge", "Scalar", {TraceArgument::of(up), number(schedule_.count())}, at::kBool), at::kLong);
  const ValuePtr back = make("aten::mul", "Scalar", {TraceArgument::of(over), number(schedule_.period)}, at::kLong);
  return make("aten::sub", "Tensor", {TraceArgument::of(up), TraceArgument::of(back), number(1)}, at::kLong);
}

PhasePaths::Phases PhasePaths::phases_that_read(const std::map<Use, Geometry>& uses) const {
  Phases found;
  for (const auto& [use, place] : uses) {
    const auto chosen = chosen_.find(use);
    if (chosen != chosen_.end()) {
      found.insert(chosen->second.begin(), chosen->second.end());
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
