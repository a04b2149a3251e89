// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_reads.h"

#include <algorithm>

#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

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

/// Leaks of other kinds are the same in every phase.
bool is_kept_value(const Leak& leak, const NodeRecord& way) { return !leak.memory && leak.source.node == way.name; }

}  // namespace

bool PhaseReads::split(const std::vector<NodeRecord*>& ways, const Phases& phases) {
  const Points found = look_at(ways);
  return std::all_of(ways.begin(), ways.end(), [&](NodeRecord* way) { return split_way(*way, found, phases); });
}

// Ways that data decides between have places of the program in common: what one of them found there in a phase that
// another was not seen in is what that would find.
PhaseReads::Points PhaseReads::look_at(const std::vector<NodeRecord*>& ways) const {
  Points found;
  for (const NodeRecord* way : ways) {
    const PathReads points(*way);
    for (const Leak& leak : way->leaks) {
      if (!is_kept_value(leak, *way)) continue;
      for (const auto& [use, place] : leak.uses) {
        if (const CallPoint* point = points.point_of(use)) look_at(leak, found[*point]);
      }
    }
  }
  return found;
}

void PhaseReads::look_at(const Leak& leak, PointReads& reads) const {
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

bool PhaseReads::split_way(NodeRecord& way, const Points& found, const Phases& phases) {
  const PathReads points(way);
  std::vector<Leak> leaks;
  for (const Leak& leak : way.leaks) {
    if (!is_kept_value(leak, way)) {
      leaks.push_back(leak);
      continue;
    }
    const auto classes = classes_of(leak, points, found);
    if (!classes) return false;
    // Whether it is known what it reads in all phases in which it may be read.
    const bool all_seen = std::all_of(phases.begin(), phases.end(), [&](std::size_t phase) {
      return std::any_of(classes->begin(), classes->end(),
                         [&](const ReadClass& one) { return one.phases.contains(phase); });
    });
    if (!classes->empty() && !all_seen) unseen_.insert(leak.location);
    classes->size() < 2 ? leaks.push_back(leak) : split_leak(leak, *classes, leaks);
  }
  way.leaks = std::move(leaks);
  return true;
}

// Nothing: in one phase it reads now this, now that.
std::optional<std::vector<PhaseReads::ReadClass>> PhaseReads::classes_of(const Leak& leak, const PathReads& points,
                                                                         const Points& found) {
  std::map<std::size_t, ReadClass> by_phase;
  for (const auto& [use, place] : leak.uses) {
    const CallPoint* point = points.point_of(use);
    const auto reads = point ? found.find(*point) : found.end();
    if (reads == found.end()) continue;
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
    const auto agrees = [&left = read.left](const ReadClass& other) {
      return std::all_of(left.begin(), left.end(), [&](const auto& one) {
        const auto known = other.left.find(one.first);
        return known == other.left.end() || known->second == one.second;
      });
    };
    const auto same = std::find_if(classes.begin(), classes.end(), agrees);
    if (same == classes.end()) {
      classes.push_back(std::move(read));
    } else {
      same->phases.insert(phase);
      same->left.insert(read.left.begin(), read.left.end());
    }
  }
  return classes;
}

void PhaseReads::split_leak(const Leak& leak, const std::vector<ReadClass>& classes, std::vector<Leak>& made) {
  number_.builder().set_location(leak.location);
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
    chosen = number_.builder().where(number_.is_one_of(one.phases), one.value, chosen);
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

void PhaseReads::undo() {
  for (auto at = replaced_.rbegin(); at != replaced_.rend(); ++at) put_operand(at->first, at->second);
  replaced_.clear();
}

const Phases* PhaseReads::phases_of(const Use& use) const {
  const auto found = chosen_.find(use);
  return found == chosen_.end() ? nullptr : &found->second;
}

}  // namespace leapp::capture
