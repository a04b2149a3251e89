// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/state_slots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "capture/branches/path_reads.h"
#include "capture/branches/phase_paths.h"
#include "capture/branches/slot_groups.h"
#include "capture/branches/slot_values.h"
#include "capture/state/constant_outputs.h"
#include "capture/state/leaks.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

class Finder {
 public:
  Finder(const std::vector<NodeRecord*>& paths, ConstantEvaluator& evaluator, const PhasePaths* phases = nullptr,
         SlotSigns signs = SlotSigns::kPlaces)
      : history_(paths), evaluator_(evaluator), phases_(phases), signs_(signs), groups_(group_leaks(history_, signs)) {}

  StateSlots run() {
    for (std::size_t i = 0; i < groups_.groups.size(); ++i) {
      const SlotGroup& group = groups_.groups[i];
      StateSlot slot = begin_slot(group);
      for (const FormerRead& read : groups_.formers[i]) {
        if (!slot.leak.in_place) slot.leak.uses.emplace(read.use, whole_of(slot));
      }
      formers_ = &groups_.formers[i];
      if (slot.leak.in_place) {
        read_memory(slot);
        next_of_memory(slot);
      } else {
        // Where paths come in turn, one place of the program may read another state in each.
        if (signs_ == SlotSigns::kPlaces) align(slot);
        if (slot.own && !odd_) odd_ = next_values(slot, group);
      }
      if (odd_) return {{}, odd_};
      if (slot.own && !slot.leak.in_place) keep_what_is_left(slot, group);
      fill_reads(slot);
      slot.unknown_beginning = slot.own && !slot.leak.read.contains(0);
      check_name(slot);
      if (odd_) return {{}, odd_};
      found_.slots.push_back(std::move(slot));
    }
    join_equal();
    for (std::size_t path = 0; path < history_.paths.size(); ++path) spread_uses(path);
    return std::move(found_);
  }

 private:
  std::optional<UnmergeablePath> next_values(StateSlot& slot, const SlotGroup& group) {
    const auto is_set_after = [&](std::size_t path, const std::vector<bool>& sets) {
      return phases_ && phases_->is_set_after(path, slot.leak.uses, sets);
    };
    const SlotEvidence evidence{group, *formers_, aligned_, [&](const Use& use) { return is_taken(use); },
                                is_set_after};
    return find_next_values(history_, evidence, evaluator_, slot);
  }

  // Slots in which every path leaves the same are one: places of the program that nobody knows a common name of.
  void join_equal() {
    std::vector<StateSlot> slots;
    for (StateSlot& slot : found_.slots) {
      const auto same =
          std::find_if(slots.begin(), slots.end(), [&](const StateSlot& one) { return equal(one, slot); });
      same == slots.end() ? slots.push_back(std::move(slot)) : join(*same, std::move(slot));
    }
    found_.slots = std::move(slots);
  }

  static bool equal(const StateSlot& a, const StateSlot& b) {
    if (!a.own || !b.own || a.leak.in_place || b.leak.in_place || a.leak.type != b.leak.type) return false;
    if (a.leak.source.delay != b.leak.source.delay || a.leak.source.port != b.leak.source.port) return false;
    bool left = false;
    for (std::size_t path = 0; path < a.next.size(); ++path) {
      if (!a.next[path] != !b.next[path] || (a.next[path] && bare(a.next[path]) != bare(b.next[path]))) return false;
      left = left || a.next[path];
    }
    // They may still begin with something else.
    const auto first = a.leak.read.find(0);
    const auto other = b.leak.read.find(0);
    return left &&
           (first == a.leak.read.end() || other == b.leak.read.end() || same_content(*first->second, *other->second));
  }

  static void join(StateSlot& slot, StateSlot other) {
    // Of which the beginning is known also has the place where it lay.
    if (slot.unknown_beginning && !other.unknown_beginning) std::swap(slot, other);
    const Geometry whole = whole_of(slot);
    for (const auto& [use, place] : other.leak.uses) slot.leak.uses.emplace(use, other.leak.memory ? place : whole);
    slot.leak.read.insert(other.leak.read.begin(), other.leak.read.end());
    slot.leak.next.insert(other.leak.next.begin(), other.leak.next.end());
    slot.leak.seen.insert(slot.leak.seen.end(), other.leak.seen.begin(), other.leak.seen.end());
    slot.leak.declared = slot.leak.declared || other.leak.declared;
    if (slot.leak.name.empty()) slot.leak.name = other.leak.name;
  }

  // A tensor that is state where it is read once is state wherever the call reads it. Only of one that is the beginning
  // of several states each place has to tell for itself, and where the path has come again each has.
  void spread_uses(std::size_t path) {
    const PathReads& reads = history_.reads[path];
    std::map<const ConstantCell*, std::set<StateSlot*>> slots_of;
    for (const Read& read : reads.all()) {
      for (StateSlot& slot : found_.slots) {
        if (!slot.leak.in_place && read.value->kind == TracedKind::kConstant && slot.leak.uses.contains(read.use))
          slots_of[read.value->cell.get()].insert(&slot);
      }
    }
    for (const Read& read : reads.all()) {
      const auto found = slots_of.find(read.value->cell.get());
      if (!read.value->cell || found == slots_of.end() || found->second.size() != 1 || is_taken(read.use)) continue;
      StateSlot& slot = **found->second.begin();
      if (read.value->type == slot.leak.type && !has_come_again(slot, path))
        slot.leak.uses.emplace(read.use, whole_of(slot));
    }
  }

  /// The last path that reads it, but for the first call's.
  std::size_t reader_of(const StateSlot& slot) const {
    for (std::size_t path = history_.paths.size() - 1; path > 0; --path) {
      const auto reads = [&](const auto& use) { return history_.reads[path].point_of(use.first) != nullptr; };
      if (std::any_of(slot.leak.uses.begin(), slot.leak.uses.end(), reads)) return path;
    }
    return 0;
  }

  // An attribute that is written in place on one way and replaced on another is two things here, and one there.
  void check_name(const StateSlot& slot) {
    const bool twice = slot.own && std::any_of(found_.slots.begin(), found_.slots.end(), [&](const StateSlot& other) {
                         if (!other.own || other.leak.in_place == slot.leak.in_place) return false;
                         const bool named = !other.leak.name.empty() && !slot.leak.name.empty();
                         return named ? other.leak.name == slot.leak.name : are_read_at_one_place(other, slot);
                       });
    if (twice) make_odd(reader_of(slot), replaced_text(slot));
  }

  bool are_read_at_one_place(const StateSlot& a, const StateSlot& b) const {
    const std::set<CallPoint> places = history_.places_of(a.leak.uses);
    const std::set<CallPoint> others = history_.places_of(b.leak.uses);
    return a.leak.type == b.leak.type &&
           std::any_of(places.begin(), places.end(), [&](const CallPoint& place) { return others.contains(place); });
  }

  static std::string replaced_text(const StateSlot& slot) {
    return fmt::format(
        "{} is written in place on one way and replaced by another tensor on another; do one of them "
        "on all ways",
        title(slot.leak));
  }

  StateSlot begin_slot(const SlotGroup& group) {
    StateSlot slot;
    // One that knows where it lay at first, if there is any: others read all of it.
    const auto placed =
        std::find_if(group.begin(), group.end(), [](const SlotMember& one) { return one.leak->memory; });
    slot.leak = *(placed == group.end() ? group[0] : *placed).leak;
    shape(slot.leak);
    const Geometry whole = whole_of(slot);
    slot.own = history_.is_own(slot.leak);
    slot.next.resize(history_.paths.size());
    slot.leak.seen.clear();
    for (const auto& [path, leak] : group) {
      slot.leak.seen.insert(slot.leak.seen.end(), leak->seen.begin(), leak->seen.end());
      const bool in_memory = slot.leak.in_place && leak->memory;
      if (in_memory ? !are_same_bytes(leak->place, slot.leak.place) : leak->type != slot.leak.type) {
        make_odd(path, fmt::format("it keeps '{}' as {}, others as {}", leak->name, type_text(leak->type),
                                   type_text(slot.leak.type)));
      }
      for (const auto& [use, place] : leak->uses) slot.leak.uses.emplace(use, leak->memory ? place : whole);
      slot.leak.read.insert(leak->read.begin(), leak->read.end());
      slot.leak.next.insert(leak->next.begin(), leak->next.end());
      slot.leak.declared = slot.leak.declared || leak->declared;
      if (slot.leak.name.empty()) slot.leak.name = leak->name;
    }
    return slot;
  }

  // ---- memory ----

  static bool are_same_bytes(const Geometry& a, const Geometry& b) { return contains(a, b) && contains(b, a); }

  // Memory that was written before anybody had read it is flat in what that call shows; by now its shape may be known.
  static void shape(Leak& leak) {
    if (!leak.in_place || !leak.memory) return;
    const Geometry whole = leak.memory->whole(leak.place.dtype);
    if (!are_same_bytes(whole, leak.place)) return;
    leak.place = whole;
    leak.type.sizes.assign(whole.sizes.begin(), whole.sizes.end());
  }

  void read_memory(StateSlot& slot) const {
    for (const PathReads& reads : history_.reads) {
      for (const Read& read : reads.all()) {
        if (read.value->kind != TracedKind::kConstant) continue;
        const ConstantCell& cell = *read.value->cell;
        if (cell.home.lock() == slot.leak.memory && contains(slot.leak.place, cell.place))
          slot.leak.uses.emplace(read.use, cell.place);
      }
    }
  }

  void next_of_memory(StateSlot& slot) {
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      for (const Leak& leak : history_.paths[path]->leaks) {
        if (!leak.in_place || leak.memory != slot.leak.memory) continue;
        slot.next[path] = leak.update;
        for (const Leak::Seen& seen : leak.seen) {
          if (seen.elsewhere) make_odd(path, replaced_text(slot));
        }
      }
      for (const MemoryEnd& end : history_.paths[path]->ends) {
        if (end.memory != slot.leak.memory) continue;
        slot.leak.read.insert(end.read.begin(), end.read.end());
        if (slot.leak.name.empty()) slot.leak.name = end.name;
        if (slot.next[path]) continue;
        if (!are_same_bytes(end.place, slot.leak.place))
          make_odd(path, fmt::format("it writes another part of {}", title(slot.leak)));
        slot.next[path] = end.value;
      }
    }
    check_makers(slot);
  }

  // Memory that a call of the node has made is what an attribute was given there, unless it was made once, to begin
  // with.
  void check_makers(StateSlot& slot) {
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (history_.paths[path]->taken.empty()) continue;
      const std::uint64_t pass = history_.paths[path]->taken[0].second;
      for (const Read& read : history_.reads[path].all()) {
        const auto source = slot.leak.uses.contains(read.use) ? history_.own_source(read, pass) : std::nullopt;
        const auto maker = source ? history_.path_in.find(pass - source->delay) : history_.path_in.end();
        if (maker == history_.path_in.end() || slot.next[maker->second]) continue;
        const ValuePtr value = history_.value_of(maker->second, *source);
        const bool once = value && is_constant(*bare(value)) && maker == history_.path_in.begin() &&
                          history_.paths[maker->second]->made_once.contains(source->key);
        if (!once) return make_odd(maker->second, replaced_text(slot));
        slot.leak.read.try_emplace(0, evaluator_.value_of(bare(value)));
      }
    }
  }

  // ---- values that are kept ----

  // A path that read it before anybody had set it read a constant like any other: the same place of the program in
  // another path tells.
  void align(StateSlot& slot) {
    aligned_.clear();
    const std::set<CallPoint> points = history_.places_of(slot.leak.uses);
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      const bool reads_it = std::any_of(slot.leak.uses.begin(), slot.leak.uses.end(),
                                        [&](const auto& use) { return history_.reads[path].point_of(use.first); });
      for (const CallPoint& point : points) {
        const Read* read = history_.reads[path].at(point);
        if (!read || read->value->type != slot.leak.type || is_taken(read->use)) continue;
        if (slot.leak.uses.contains(read->use) || (reads_it && !history_.is_own_former(path, *read))) continue;
        if (!may_be_state(read->value, history_.paths[path]->first_call)) continue;
        if (!history_.is_own_former(path, *read) && has_come_again(slot, path)) continue;
        slot.leak.uses.emplace(read->use, whole_of(slot));
        slot.leak.read.try_emplace(history_.paths[path]->first_call, evaluator_.value_of(read->value));
        if (history_.paths[path]->taken.empty() || history_.paths[path]->first_call == 0) continue;
        const auto [call, pass] = history_.paths[path]->taken[0];
        if (const auto source = history_.own_source(*read, pass)) {
          formers_->push_back({path, read->use, {call, pass, *source}});
        } else {
          aligned_.push_back({call, pass, {}, read->value});
        }
      }
    }
  }

  // What a call makes for itself is nothing that it found; only what the first one makes out of nothing may be the
  // beginning of state.
  static bool may_be_state(const ValuePtr& value, std::size_t call) {
    if (value->kind == TracedKind::kConstant) return !value->cell->parameter && !(value->cell->fresh && call > 0);
    return call == 0 && slice_of({value}).constants.empty();
  }

  // A path that came again after a node had set the slot, and found there what it had found before, reads a constant.
  bool has_come_again(const StateSlot& slot, std::size_t path) const {
    const auto& taken = history_.paths[path]->taken;
    if (taken.empty()) return false;
    return std::any_of(slot.leak.seen.begin(), slot.leak.seen.end(), [&](const Leak::Seen& seen) {
      return !seen.fresh && seen.pass - seen.source.delay >= taken.front().second && seen.pass <= taken.back().second;
    });
  }

  bool is_taken(const Use& use) const {
    return std::any_of(found_.slots.begin(), found_.slots.end(),
                       [&](const StateSlot& slot) { return slot.leak.uses.contains(use); });
  }

  // ---- what calls read ----

  bool leaves_alone(const StateSlot& slot, std::size_t call) const {
    const auto path = history_.path_of_call.find(call);
    return slot.own && path != history_.path_of_call.end() && !slot.next[path->second];
  }

  // A way that read what another had left may compute the like and leave something else.
  void keep_what_is_left(StateSlot& slot, const SlotGroup& group) const {
    for (const auto& [path, leak] : group) {
      if (leak->memory && leak->update) continue;  // a buffer: what the module holds when the call ends
      const ValuePtr held = history_.value_of(path, leak->source);
      if (held && slot.next[path] && bare(held) == bare(slot.next[path])) continue;
      for (const auto& [call, content] : leak->next) slot.leak.next.erase(call);
    }
  }

  // What nobody changed is what it was.
  void fill_reads(StateSlot& slot) const {
    auto& read = slot.leak.read;
    for (auto call = history_.path_of_call.begin(); call != history_.path_of_call.end(); ++call) {
      const auto next = std::next(call);
      if (next == history_.path_of_call.end() || !read.contains(call->first) || read.contains(next->first)) continue;
      if (next->first == call->first + 1 && leaves_alone(slot, call->first)) read[next->first] = read.at(call->first);
    }
    for (auto call = history_.path_of_call.rbegin(); call != history_.path_of_call.rend(); ++call) {
      if (read.contains(call->first) || !read.contains(call->first + 1)) continue;
      if (leaves_alone(slot, call->first)) read[call->first] = read.at(call->first + 1);
    }
  }

  void make_odd(std::size_t path, std::string reason) {
    if (!odd_) odd_ = UnmergeablePath{path, std::move(reason)};
  }

  PathHistory history_;
  ConstantEvaluator& evaluator_;
  const PhasePaths* phases_;
  SlotSigns signs_;
  SlotGroups groups_;
  std::vector<FormerRead>* formers_ = nullptr;  // of the slot at hand
  std::vector<Leak::Seen> aligned_;             // of the slot at hand: what first calls found
  StateSlots found_;
  std::optional<UnmergeablePath> odd_;
};

}  // namespace

StateSlots find_slots(const std::vector<NodeRecord*>& paths, ConstantEvaluator& evaluator) {
  return Finder(paths, evaluator).run();
}

StateSlots find_slots_in_turn(const std::vector<NodeRecord*>& paths, ConstantEvaluator& evaluator,
                              const PhasePaths& phases) {
  // One state that all paths share is one slot; only where it cannot be that, each value has its own.
  StateSlots found = Finder(paths, evaluator, &phases).run();
  return found.odd ? Finder(paths, evaluator, &phases, SlotSigns::kValues).run() : found;
}

std::optional<UnmergeablePath> find_unexplained(const std::vector<NodeRecord*>& paths,
                                                const std::vector<StateSlot>& slots) {
  const std::map<Use, std::string> states = operands_of(slots);
  for (std::size_t path = paths.size(); path-- > 0;) {
    const NodeRecord& record = *paths[path];
    if (record.taken.empty()) continue;
    std::vector<ValuePtr> roots = record.output_values;
    for (const BranchCondition& guard : record.guards) roots.push_back(guard.value);
    for (const StateSlot& slot : slots) {
      if (slot.own && slot.next[path]) roots.push_back(slot.next[path]);
    }
    for (const TraceOp* op : slice_of(roots).ops) {
      std::size_t operand = 0;
      bool kept = false;
      for_each_operand(*op, [&](const ValuePtr& value) {
        const auto source = value->kind == TracedKind::kConstant ? source_of(*value->cell, record.taken[0].second)
                                                                 : std::optional<LeakSource>();
        kept = kept || (source && !states.contains({const_cast<TraceOp*>(op), operand}));
        ++operand;
      });
      if (kept) return UnmergeablePath{path, fmt::format("it reads something that was kept{}", at_line(op->location))};
    }
  }
  return std::nullopt;
}

std::map<Use, std::string> operands_of(const std::vector<StateSlot>& slots) {
  std::map<Use, std::string> operands;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    for (const auto& [use, place] : slots[i].leak.uses) {
      operands[use] =
          fmt::format("{} {} {} {}", i, place.byte_offset, fmt::join(place.sizes, ","), fmt::join(place.strides, ","));
    }
  }
  return operands;
}

}  // namespace leapp::capture
