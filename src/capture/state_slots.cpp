// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state_slots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "capture/constant_outputs.h"
#include "capture/leaks.h"
#include "capture/slice.h"

namespace leapp::capture {
namespace {

/// An operand of a path that depends on nothing but constants.
struct Read {
  Use use;
  ValuePtr value;
};

/// Where in the program an operand is read: the n-th time that operator runs at that line.
struct Point {
  const OpInfo* op = nullptr;
  LocationId location = 0;
  std::size_t turn = 0;
  std::size_t operand = 0;
  auto operator<=>(const Point&) const = default;
};

class PathReads {
 public:
  explicit PathReads(const NodeRecord& path) {
    std::map<std::pair<const OpInfo*, LocationId>, std::size_t> turns;
    for (const TraceOp* op : slice_of(roots_of(path)).ops) {
      const std::size_t turn = turns[{op->info, op->location}]++;
      std::size_t operand = 0;
      for_each_operand(*op, [&](const ValuePtr& value) {
        const Use use{const_cast<TraceOp*>(op), operand};
        if (is_constant(*value) && value->kind != TracedKind::kInput) {
          reads_.push_back({use, value});
          points_.emplace(Point{op->info, op->location, turn, operand}, reads_.size() - 1);
        }
        where_.emplace(use, Point{op->info, op->location, turn, operand});
        ++operand;
      });
    }
  }

  [[nodiscard]] const std::vector<Read>& all() const { return reads_; }
  [[nodiscard]] const Read* at(const Point& point) const {
    const auto found = points_.find(point);
    return found == points_.end() ? nullptr : &reads_[found->second];
  }
  [[nodiscard]] const Point* point_of(const Use& use) const {
    const auto found = where_.find(use);
    return found == where_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<Read> reads_;
  std::map<Point, std::size_t> points_;
  std::map<Use, Point> where_;
};

class Finder {
 public:
  Finder(const std::vector<NodeRecord*>& paths, Evaluator& evaluator) : paths_(paths), evaluator_(evaluator) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      reads_.emplace_back(*paths[i]);
      for (const auto& [call, pass] : paths[i]->taken) {
        path_in_[pass] = i;
        path_of_call_[call] = i;
      }
    }
  }

  StateSlots run() {
    group();
    read_formers();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      Group& group = groups_[i];
      StateSlot slot = begin_slot(group);
      for (const FormerRead& read : read_[i]) {
        if (!slot.leak.in_place) slot.leak.uses.emplace(read.use, whole_of(slot));
      }
      formers_ = &read_[i];
      if (slot.leak.in_place) {
        read_memory(slot);
        next_of_memory(slot);
      } else {
        align(slot);
        if (slot.own) next_of_values(slot, group);
      }
      if (odd_) return {{}, odd_};
      fill_reads(slot);
      slot.unknown_beginning = slot.own && !slot.leak.read.contains(0);
      check_name(slot);
      if (odd_) return {{}, odd_};
      found_.slots.push_back(std::move(slot));
    }
    join_equal();
    for (std::size_t path = 0; path < paths_.size(); ++path) spread_uses(path);
    return std::move(found_);
  }

 private:
  struct Member {
    std::size_t path = 0;
    const Leak* leak = nullptr;
  };
  using Group = std::vector<Member>;
  struct FormerRead {
    std::size_t path = 0;
    Use use;
    Leak::Seen seen;
  };

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
    const PathReads& reads = reads_[path];
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
    for (std::size_t path = paths_.size() - 1; path > 0; --path) {
      const auto reads = [&](const auto& use) { return reads_[path].point_of(use.first) != nullptr; };
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
    const std::set<Point> places = places_of(a);
    const std::set<Point> others = places_of(b);
    return a.leak.type == b.leak.type &&
           std::any_of(places.begin(), places.end(), [&](const Point& place) { return others.contains(place); });
  }

  std::set<Point> places_of(const StateSlot& slot) const {
    std::set<Point> places;
    for (const auto& [use, place] : slot.leak.uses) {
      for (const PathReads& reads : reads_) {
        if (const Point* point = reads.point_of(use)) places.insert(*point);
      }
    }
    return places;
  }

  static std::string replaced_text(const StateSlot& slot) {
    return fmt::format(
        "'{}' is written in place on one way and replaced by another tensor on another; do one of them "
        "on all ways",
        slot.leak.name);
  }

  bool is_own(const Leak& leak) const { return leak.source.node == paths_[0]->name; }

  /// Where the leak is kept; null: one tensor takes the place of another. What the first call made has no memory that
  /// it was read from, but later ones read it where other paths write.
  std::shared_ptr<Memory> memory_of(const Leak& leak) const {
    if (leak.in_place) return leak.memory;
    std::shared_ptr<Memory> found;
    for (const Leak::Seen& seen : leak.seen) {
      const auto home = seen.fresh ? nullptr : seen.home.lock();
      if (!home || (found && found != home)) return nullptr;
      found = home;
    }
    return found && written_.contains(found) ? found : nullptr;
  }

  void find_written() {
    for (const NodeRecord* path : paths_) {
      for (const MemoryEnd& end : path->ends) written_.insert(end.memory);
      for (const Leak& leak : path->leaks) {
        if (leak.in_place) written_.insert(leak.memory);
      }
    }
  }

  /// Leaks with equal texts are one slot.
  std::string key_of(const Leak& leak) const {
    if (const auto memory = memory_of(leak)) return fmt::format("memory {}", static_cast<const void*>(memory.get()));
    if (is_own(leak) && !leak.name.empty() && !shared_names_.contains(leak.name)) return "name " + leak.name;
    const LeakSource& source = leak.source;
    return fmt::format("value {}/{} {} {}", source.node, source.port, source.key, source.delay);
  }

  // The entries of a list pass one name on to each other.
  void find_shared_names() {
    for (const NodeRecord* path : paths_) {
      std::map<std::string, LeakSource> sources;
      for (const Leak& leak : path->leaks) {
        if (leak.in_place || leak.name.empty() || !is_own(leak)) continue;
        if (!(sources.try_emplace(leak.name, leak.source).first->second == leak.source))
          shared_names_.insert(leak.name);
      }
    }
  }

  // One slot: what is kept under one name, or read at one place of the program.
  void group() {
    find_written();
    find_shared_names();
    std::map<std::string, std::size_t> known;
    std::map<Point, std::size_t> places;
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      for (const Leak& leak : paths_[path]->leaks) {
        std::size_t at = known.try_emplace(key_of(leak), groups_.size()).first->second;
        if (at == groups_.size()) groups_.emplace_back();
        groups_[at].push_back({path, &leak});
        if (memory_of(leak) || !is_own(leak)) continue;
        for (const auto& [use, place] : leak.uses) {
          const Point* point = reads_[path].point_of(use);
          if (point) at = join(places.try_emplace(*point, at).first->second, at);
        }
        for (auto& [text, group] : known) group = joined(group);
      }
    }
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      for (const MemoryEnd& end : paths_[path]->ends) {
        const Leak leak = leak_of(end);
        if (known.contains(key_of(leak)) || !is_read(end)) continue;
        known.emplace(key_of(leak), groups_.size());
        groups_.push_back({{path, &made_.emplace_back(leak)}});
      }
    }
    std::erase_if(groups_, [](const Group& group) { return group.empty(); });
  }

  std::size_t joined(std::size_t group) const {
    const auto found = joined_.find(group);
    return found == joined_.end() ? group : joined(found->second);
  }

  std::size_t join(std::size_t a, std::size_t b) {
    const std::size_t first = std::min(joined(a), joined(b));
    const std::size_t second = std::max(joined(a), joined(b));
    if (first == second || groups_[first][0].leak->type != groups_[second][0].leak->type) return joined(b);
    groups_[first].insert(groups_[first].end(), groups_[second].begin(), groups_[second].end());
    groups_[second].clear();
    joined_[second] = first;
    return first;
  }

  // Memory that one path writes, and another one reads.
  bool is_read(const MemoryEnd& end) const {
    return std::any_of(reads_.begin(), reads_.end(), [&](const PathReads& reads) {
      return std::any_of(reads.all().begin(), reads.all().end(), [&](const Read& read) {
        return read.value->kind == TracedKind::kConstant && read.value->cell->home.lock() == end.memory &&
               contains(end.place, read.value->cell->place);
      });
    });
  }

  Leak leak_of(const MemoryEnd& end) const {
    Leak leak;
    leak.source = {paths_[0]->name, "", 0, 1};
    leak.memory = end.memory;
    leak.place = end.place;
    leak.in_place = true;
    leak.type = {end.place.dtype, end.place.sizes};
    leak.name = end.name;
    leak.location = end.value->kind == TracedKind::kResult ? end.value->op->location : 0;
    leak.read = end.read;
    return leak;
  }

  /// A value of the node: which, and in which pass it was made.
  using Former = std::tuple<std::string, std::uint64_t, std::uint64_t>;

  static Former former(const LeakSource& source, std::uint64_t pass) {
    return {source.port, source.key, pass - source.delay};
  }

  // What a path reads only for what it keeps shows by where it comes from, unless several slots have had it in turn.
  void read_formers() {
    std::map<Former, std::set<std::size_t>> known;
    std::set<Use> told;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      for (const Member& member : groups_[i]) {
        for (const auto& [use, place] : member.leak->uses) told.insert(use);
        for (const Leak::Seen& seen : member.leak->seen) {
          if (!seen.fresh && is_own(*member.leak)) known[former(seen.source, seen.pass)].insert(i);
        }
      }
    }
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (paths_[path]->taken.empty()) continue;
      const auto [call, pass] = paths_[path]->taken[0];
      for (const Read& read : reads_[path].all()) {
        const auto source = told.contains(read.use) ? std::nullopt : own_source(read, pass);
        const auto found = source ? known.find(former(*source, pass)) : known.end();
        if (found != known.end() && found->second.size() == 1)
          read_[*found->second.begin()].push_back({path, read.use, {call, pass, *source}});
      }
    }
  }

  std::optional<LeakSource> own_source(const Read& read, std::uint64_t pass) const {
    if (read.value->kind != TracedKind::kConstant) return std::nullopt;
    const auto source = source_of(*read.value->cell, pass);
    return source && source->node == paths_[0]->name ? source : std::nullopt;
  }

  bool is_own_former(std::size_t path, const Read& read) const {
    return !paths_[path]->taken.empty() && own_source(read, paths_[path]->taken[0].second);
  }

  StateSlot begin_slot(const Group& group) {
    StateSlot slot;
    // One that knows where it lay at first, if there is any: others read all of it.
    const auto placed = std::find_if(group.begin(), group.end(), [](const Member& one) { return one.leak->memory; });
    slot.leak = *(placed == group.end() ? group[0] : *placed).leak;
    const Geometry whole = whole_of(slot);
    slot.own = is_own(slot.leak);
    slot.next.resize(paths_.size());
    slot.leak.seen.clear();
    for (const auto& [path, leak] : group) {
      slot.leak.seen.insert(slot.leak.seen.end(), leak->seen.begin(), leak->seen.end());
      if (leak->type != slot.leak.type || (slot.leak.in_place && leak->memory && !(leak->place == slot.leak.place))) {
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

  static Geometry whole_of(const StateSlot& slot) { return slot.leak.memory ? slot.leak.place : Geometry(); }

  // ---- memory ----

  void read_memory(StateSlot& slot) const {
    for (const PathReads& reads : reads_) {
      for (const Read& read : reads.all()) {
        if (read.value->kind != TracedKind::kConstant) continue;
        const ConstantCell& cell = *read.value->cell;
        if (cell.home.lock() == slot.leak.memory && contains(slot.leak.place, cell.place))
          slot.leak.uses.emplace(read.use, cell.place);
      }
    }
  }

  void next_of_memory(StateSlot& slot) {
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      for (const Leak& leak : paths_[path]->leaks) {
        if (!leak.in_place || leak.memory != slot.leak.memory) continue;
        slot.next[path] = leak.update;
        for (const Leak::Seen& seen : leak.seen) {
          if (seen.elsewhere) make_odd(path, replaced_text(slot));
        }
      }
      for (const MemoryEnd& end : paths_[path]->ends) {
        if (end.memory != slot.leak.memory) continue;
        slot.leak.read.insert(end.read.begin(), end.read.end());
        if (slot.leak.name.empty()) slot.leak.name = end.name;
        if (slot.next[path]) continue;
        if (!(end.place == slot.leak.place))
          make_odd(path, fmt::format("it writes another part of '{}'", slot.leak.name));
        slot.next[path] = end.value;
      }
    }
    check_makers(slot);
  }

  // Memory that a call of the node has made is what an attribute was given there, unless it was made once, to begin
  // with.
  void check_makers(StateSlot& slot) {
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (paths_[path]->taken.empty()) continue;
      const std::uint64_t pass = paths_[path]->taken[0].second;
      for (const Read& read : reads_[path].all()) {
        const auto source = slot.leak.uses.contains(read.use) ? own_source(read, pass) : std::nullopt;
        const auto maker = source ? path_in_.find(pass - source->delay) : path_in_.end();
        if (maker == path_in_.end() || slot.next[maker->second]) continue;
        const ValuePtr value = value_of(maker->second, *source);
        const bool once = value && is_constant(*bare(value)) && maker == path_in_.begin() &&
                          paths_[maker->second]->made_once.contains(source->key);
        if (!once) return make_odd(maker->second, replaced_text(slot));
        slot.leak.read.try_emplace(0, evaluator_.value_of(bare(value)));
      }
    }
  }

  // ---- values that are kept ----

  ValuePtr value_of(std::size_t path, const LeakSource& source) const {
    const NodeRecord& record = *paths_[path];
    if (source.port.empty()) {
      const auto found = record.survivors.find(source.key);
      return found == record.survivors.end() ? nullptr : found->second;
    }
    for (std::size_t i = 0; i < record.outputs.size(); ++i) {
      if (record.outputs[i].name == source.port) return record.output_values[i];
    }
    return nullptr;
  }

  // Every path computes it, and so many passes later it is read: a row of them.
  bool is_row(StateSlot& slot, const Group& group) const {
    const LeakSource& source = slot.leak.source;
    std::vector<ValuePtr> values(paths_.size());
    const auto add = [&](std::uint64_t pass, const LeakSource& seen) {
      const auto producer = path_in_.find(pass - seen.delay);
      if (seen.delay != source.delay || seen.port != source.port || producer == path_in_.end()) return false;
      const ValuePtr value = value_of(producer->second, seen);
      ValuePtr& known = values[producer->second];
      if (!value || (known && bare(known) != bare(value))) return false;
      known = value;
      return true;
    };
    for (const auto& [path, leak] : group) {
      for (const Leak::Seen& seen : leak->seen) {
        if (!seen.fresh && !add(seen.pass, seen.source)) return false;
      }
    }
    for (const FormerRead& read : *formers_) {
      if (!add(read.seen.pass, read.seen.source)) return false;
    }
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (!values[path]) values[path] = value_of(path, source);
    }
    if (std::find(values.begin(), values.end(), nullptr) != values.end()) return false;
    slot.next = std::move(values);
    return true;
  }

  void next_of_values(StateSlot& slot, const Group& group) {
    add_first_reads(slot);
    if (is_row(slot, group)) return;
    std::vector<bool> known(paths_.size(), false);
    for (const auto& [path, leak] : group) {
      if (!leak->memory || !leak->update) continue;  // a buffer that the call gave another tensor
      slot.next[path] = leak->update;
      known[path] = true;
    }
    for (const auto& [path, leak] : group) {
      for (const Leak::Seen& seen : leak->seen) {
        if (!seen.fresh) learn(slot, known, seen);
      }
    }
    for (std::size_t i = 0; i < formers_->size() || find_formers(slot, known); ++i)
      learn(slot, known, (*formers_)[i].seen);
    slot.leak.source = {paths_[0]->name, "", slot.leak.source.key, 1};
    const std::vector<Leak::Seen> fresh = fresh_reads(slot, group);
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (known[path] || learn_fresh(slot, fresh, path)) continue;
      make_odd(path,
               fmt::format("no call after it shows what it leaves in '{}'; run another pass after it", slot.leak.name));
    }
  }

  // Where a later call has shown that a path reads the slot, its first one read it, too.
  void add_first_reads(const StateSlot& slot) {
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (paths_[path]->taken.empty()) continue;
      const auto [call, pass] = paths_[path]->taken[0];
      for (const Read& read : reads_[path].all()) {
        const auto source = slot.leak.uses.contains(read.use) ? own_source(read, pass) : std::nullopt;
        if (source) formers_->push_back({path, read.use, {call, pass, *source}});
      }
    }
  }

  // What a path reads only for what it keeps shows by where it comes from: another path, or this one, has left it in
  // the slot, and nobody has touched it since.
  bool find_formers(StateSlot& slot, const std::vector<bool>& known) {
    const std::size_t before = formers_->size();
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (paths_[path]->taken.empty()) continue;
      const auto [call, pass] = paths_[path]->taken[0];
      for (const Read& read : reads_[path].all()) {
        const auto source = own_source(read, pass);
        if (!source || read.value->type != slot.leak.type || slot.leak.uses.contains(read.use) || is_taken(read.use))
          continue;
        if (!is_left_in(slot, known, *source, pass)) continue;
        slot.leak.uses.emplace(read.use, whole_of(slot));
        formers_->push_back({path, read.use, {call, pass, *source}});
      }
    }
    return formers_->size() > before;
  }

  bool is_left_in(const StateSlot& slot, const std::vector<bool>& known, const LeakSource& source,
                  std::uint64_t pass) const {
    const auto producer = path_in_.find(pass - source.delay);
    if (producer == path_in_.end() || !known[producer->second] || !slot.next[producer->second]) return false;
    const ValuePtr value = value_of(producer->second, source);
    return value && bare(value) == bare(slot.next[producer->second]);
  }

  /// Calls that found there what no node had computed.
  std::vector<Leak::Seen> fresh_reads(const StateSlot& slot, const Group& group) const {
    std::vector<Leak::Seen> found = aligned_;
    for (const auto& [path, leak] : group) {
      for (const Leak::Seen& seen : leak->seen) {
        if (seen.fresh) found.push_back(seen);
      }
    }
    for (const NodeRecord* path : paths_) {
      for (const Divergence& divergence : path->divergences) {
        if (!divergence.now || !slot.leak.uses.contains(divergence.use)) continue;
        for (const auto& [call, pass] : path->taken) {
          if (call == divergence.call) found.push_back({call, pass, {}, divergence.now});
        }
      }
    }
    return found;
  }

  // The path that ran before such a call has left a constant there, if it was always the same, or nothing.
  bool learn_fresh(StateSlot& slot, const std::vector<Leak::Seen>& fresh, std::size_t path) {
    ValuePtr left;
    bool unchanged = false;
    for (const Leak::Seen& seen : fresh) {
      const auto after = path_in_.lower_bound(seen.pass);
      if (after == path_in_.begin() || std::prev(after)->second != path) continue;
      if (was_there(slot, seen)) {
        unchanged = true;
        continue;
      }
      const bool same = !left || same_content(*evaluator_.value_of(left), *evaluator_.value_of(seen.fresh));
      if (!same)
        make_odd(path, fmt::format("what is found in '{}' after it is not the same each time", slot.leak.name));
      left = seen.fresh;
    }
    if (left && unchanged)
      make_odd(path, fmt::format("it leaves '{}' alone in some calls and not in others", slot.leak.name));
    if (left) slot.next[path] = left;
    return left || unchanged;
  }

  // Whether the call before it that read the slot found that very tensor there.
  bool was_there(const StateSlot& slot, const Leak::Seen& seen) const {
    std::uint64_t latest = 0;
    ValuePtr before;  // null: what a node had computed
    const auto look_at = [&](std::uint64_t pass, const ValuePtr& value) {
      if (pass >= seen.pass || pass < latest) return;
      latest = pass;
      before = value;
    };
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (paths_[path]->taken.empty()) continue;
      const std::uint64_t pass = paths_[path]->taken[0].second;
      for (const Read& read : reads_[path].all()) {
        if (slot.leak.uses.contains(read.use)) look_at(pass, own_source(read, pass) ? nullptr : read.value);
      }
    }
    for (const Leak::Seen& one : slot.leak.seen) look_at(one.pass, one.fresh);
    if (!before || before->kind != seen.fresh->kind) return false;
    return before->kind == TracedKind::kConstant ? before->cell->is_same_memory(*seen.fresh->cell)
                                                 : before == seen.fresh;
  }

  void learn(StateSlot& slot, std::vector<bool>& known, const Leak::Seen& seen) {
    const std::uint64_t made = seen.pass - seen.source.delay;
    const auto producer = path_in_.find(made);
    if (producer == path_in_.end()) return;
    const ValuePtr value = value_of(producer->second, seen.source);
    if (!value) return make_odd(producer->second, not_computed(slot));
    if (made == path_in_.begin()->first && is_constant(*bare(value))) {
      learn_beginning(slot, known, seen.source, value);
    } else {
      set_next(slot, known, producer->second, value);
    }
    for (auto between = path_in_.upper_bound(made); between != path_in_.end() && between->first < seen.pass; ++between)
      set_next(slot, known, between->second, nullptr);
  }

  // What the first call makes out of constants and keeps is what the state begins with, if later ones on that way do
  // not make it again.
  void learn_beginning(StateSlot& slot, std::vector<bool>& known, const LeakSource& source, const ValuePtr& value) {
    const std::size_t path = path_in_.begin()->second;
    if (paths_[path]->taken.size() == 1) {
      return make_odd(path, fmt::format("only the first call took it, so nobody can tell whether '{}' begins with what "
                                        "it sets or is set so each time; run another pass that takes it",
                                        slot.leak.name));
    }
    const bool again = !paths_[path]->made_once.contains(source.key);
    set_next(slot, known, path, again ? value : nullptr);
    if (!again) slot.leak.read.try_emplace(0, evaluator_.value_of(bare(value)));
  }

  void set_next(StateSlot& slot, std::vector<bool>& known, std::size_t path, const ValuePtr& value) {
    const bool same =
        !known[path] || slot.next[path] == value || (slot.next[path] && value && bare(slot.next[path]) == bare(value));
    if (!same)
      return make_odd(path, fmt::format("what it leaves in '{}' is not the same in all of its calls", slot.leak.name));
    slot.next[path] = value;
    known[path] = true;
  }

  std::string not_computed(const StateSlot& slot) const {
    return fmt::format("what it leaves in '{}' is not what its first call computed", slot.leak.name);
  }

  // A path that read it before anybody had set it read a constant like any other: the same place of the program in
  // another path tells.
  void align(StateSlot& slot) {
    aligned_.clear();
    const std::set<Point> points = places_of(slot);
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      const bool reads_it = std::any_of(slot.leak.uses.begin(), slot.leak.uses.end(),
                                        [&](const auto& use) { return reads_[path].point_of(use.first); });
      for (const Point& point : points) {
        const Read* read = reads_[path].at(point);
        if (!read || read->value->type != slot.leak.type || is_taken(read->use)) continue;
        if (slot.leak.uses.contains(read->use) || (reads_it && !is_own_former(path, *read))) continue;
        if (!may_be_state(read->value, paths_[path]->first_call)) continue;
        if (!is_own_former(path, *read) && has_come_again(slot, path)) continue;
        slot.leak.uses.emplace(read->use, whole_of(slot));
        slot.leak.read.try_emplace(paths_[path]->first_call, evaluator_.value_of(read->value));
        if (paths_[path]->taken.empty() || paths_[path]->first_call == 0) continue;
        const auto [call, pass] = paths_[path]->taken[0];
        if (const auto source = own_source(*read, pass)) {
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
    const auto& taken = paths_[path]->taken;
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
    const auto path = path_of_call_.find(call);
    return slot.own && path != path_of_call_.end() && !slot.next[path->second];
  }

  // What nobody changed is what it was.
  void fill_reads(StateSlot& slot) const {
    auto& read = slot.leak.read;
    for (auto call = path_of_call_.begin(); call != path_of_call_.end(); ++call) {
      const auto next = std::next(call);
      if (next == path_of_call_.end() || !read.contains(call->first) || read.contains(next->first)) continue;
      if (next->first == call->first + 1 && leaves_alone(slot, call->first)) read[next->first] = read.at(call->first);
    }
    for (auto call = path_of_call_.rbegin(); call != path_of_call_.rend(); ++call) {
      if (read.contains(call->first) || !read.contains(call->first + 1)) continue;
      if (leaves_alone(slot, call->first)) read[call->first] = read.at(call->first + 1);
    }
  }

  void make_odd(std::size_t path, std::string reason) {
    if (!odd_) odd_ = OddPath{path, std::move(reason)};
  }

  const std::vector<NodeRecord*>& paths_;
  Evaluator& evaluator_;
  std::vector<PathReads> reads_;
  std::map<std::uint64_t, std::size_t> path_in_;  // by pass
  std::map<std::size_t, std::size_t> path_of_call_;
  std::set<std::shared_ptr<Memory>> written_;  // by some path
  std::set<std::string> shared_names_;         // of several things that one path keeps
  std::vector<Group> groups_;
  std::map<std::size_t, std::size_t> joined_;  // groups, and into which they went
  std::deque<Leak> made_;
  std::map<std::size_t, std::vector<FormerRead>> read_;  // by group
  std::vector<FormerRead>* formers_ = nullptr;           // of the slot at hand
  std::vector<Leak::Seen> aligned_;                      // of the slot at hand: what first calls found
  StateSlots found_;
  std::optional<OddPath> odd_;
};

}  // namespace

std::vector<ValuePtr> roots_of(const NodeRecord& path) {
  std::vector<ValuePtr> roots = path.output_values;
  for (const Guard& guard : path.guards) roots.push_back(guard.value);
  for (const MemoryEnd& end : path.ends) roots.push_back(end.value);
  for (const Leak& leak : path.leaks) {
    if (leak.update) roots.push_back(leak.update);
  }
  // In the order of the program, whatever the hash.
  std::vector<ValuePtr> kept;
  for (const auto& [key, value] : path.survivors) kept.push_back(value);
  std::sort(kept.begin(), kept.end(), [](const ValuePtr& a, const ValuePtr& b) {
    const auto order = [](const ValuePtr& value) {
      return std::pair(value->kind == TracedKind::kResult ? value->op->sequence : 0, value->index);
    };
    return order(a) < order(b);
  });
  roots.insert(roots.end(), kept.begin(), kept.end());
  return roots;
}

StateSlots find_slots(const std::vector<NodeRecord*>& paths, Evaluator& evaluator) {
  return Finder(paths, evaluator).run();
}

std::optional<OddPath> find_unexplained(const std::vector<NodeRecord*>& paths, const std::vector<StateSlot>& slots) {
  const std::map<Use, std::string> states = operands_of(slots);
  for (std::size_t path = paths.size(); path-- > 0;) {
    const NodeRecord& record = *paths[path];
    if (record.taken.empty()) continue;
    std::vector<ValuePtr> roots = record.output_values;
    for (const Guard& guard : record.guards) roots.push_back(guard.value);
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
      if (kept) return OddPath{path, fmt::format("it reads something that was kept{}", at_line(op->location))};
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
