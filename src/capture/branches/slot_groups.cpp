// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/slot_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "capture/state/leaks.h"

namespace leapp::capture {
namespace {

class Grouper {
 public:
  Grouper(const PathHistory& history, SlotSigns signs) : history_(history), signs_(signs) {}

  SlotGroups run() {
    group();
    read_formers();
    return std::move(found_);
  }

 private:
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
    for (const NodeRecord* path : history_.paths) {
      for (const MemoryEnd& end : path->ends) written_.insert(end.memory);
      for (const Leak& leak : path->leaks) {
        if (leak.in_place) written_.insert(leak.memory);
      }
    }
  }

  /// Leaks with equal texts are one slot.
  std::string key_of(const Leak& leak) const {
    if (const auto memory = memory_of(leak)) return fmt::format("memory {}", static_cast<const void*>(memory.get()));
    if (signs_ == SlotSigns::kValues && history_.is_own(leak))
      return fmt::format("leak {}", static_cast<const void*>(&leak));
    if (history_.is_own(leak) && !leak.name.empty() && !shared_names_.contains(leak.name)) return "name " + leak.name;
    const LeakSource& source = leak.source;
    return fmt::format("value {}/{} {} {}", source.node, source.port, source.key, source.delay);
  }

  // The entries of a list pass one name on to each other.
  void find_shared_names() {
    for (const NodeRecord* path : history_.paths) {
      std::map<std::string, LeakSource> sources;
      for (const Leak& leak : path->leaks) {
        if (leak.in_place || leak.name.empty() || !history_.is_own(leak)) continue;
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
    std::map<CallPoint, std::size_t> places;
    std::map<Found, std::size_t> values;
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      for (const Leak& leak : history_.paths[path]->leaks) {
        std::size_t at = known.try_emplace(key_of(leak), found_.groups.size()).first->second;
        if (at == found_.groups.size()) found_.groups.emplace_back();
        found_.groups[at].push_back({path, &leak});
        if (memory_of(leak) || !history_.is_own(leak)) continue;
        if (signs_ == SlotSigns::kValues) {
          for (const Found& found : found_by(leak)) at = join(values.try_emplace(found, at).first->second, at);
        }
        for (const auto& [use, place] : leak.uses) {
          const CallPoint* point = signs_ == SlotSigns::kPlaces ? history_.reads[path].point_of(use) : nullptr;
          if (point) at = join(places.try_emplace(*point, at).first->second, at);
        }
        for (auto& [text, group] : known) group = joined(group);
      }
    }
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      for (const MemoryEnd& end : history_.paths[path]->ends) {
        const Leak leak = leak_of(end);
        if (known.contains(key_of(leak)) || !is_read(end)) continue;
        known.emplace(key_of(leak), found_.groups.size());
        found_.groups.push_back({{path, &found_.made.emplace_back(leak)}});
      }
    }
    std::erase_if(found_.groups, [](const SlotGroup& group) { return group.empty(); });
  }

  /// A value: the path that made it, and which one of its.
  using Found = std::tuple<std::size_t, std::string, std::uint64_t>;

  std::vector<Found> found_by(const Leak& leak) const {
    std::vector<Found> found;
    for (const Leak::Seen& seen : leak.seen) {
      const auto maker = seen.fresh ? history_.path_in.end() : history_.path_in.find(seen.pass - seen.source.delay);
      if (maker != history_.path_in.end()) found.emplace_back(maker->second, seen.source.port, seen.source.key);
    }
    return found;
  }

  std::size_t joined(std::size_t group) const {
    const auto found = joined_.find(group);
    return found == joined_.end() ? group : joined(found->second);
  }

  std::size_t join(std::size_t a, std::size_t b) {
    const std::size_t first = std::min(joined(a), joined(b));
    const std::size_t second = std::max(joined(a), joined(b));
    if (first == second || found_.groups[first][0].leak->type != found_.groups[second][0].leak->type) return joined(b);
    found_.groups[first].insert(found_.groups[first].end(), found_.groups[second].begin(), found_.groups[second].end());
    found_.groups[second].clear();
    joined_[second] = first;
    return first;
  }

  // Memory that one path writes, and another one reads.
  bool is_read(const MemoryEnd& end) const {
    return std::any_of(history_.reads.begin(), history_.reads.end(), [&](const PathReads& reads) {
      return std::any_of(reads.all().begin(), reads.all().end(), [&](const Read& read) {
        return read.value->kind == TracedKind::kConstant && read.value->cell->home.lock() == end.memory &&
               contains(end.place, read.value->cell->place);
      });
    });
  }

  Leak leak_of(const MemoryEnd& end) const {
    Leak leak;
    leak.source = {history_.paths[0]->name, "", 0, 1};
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
    for (std::size_t i = 0; i < found_.groups.size(); ++i) {
      for (const SlotMember& member : found_.groups[i]) {
        for (const auto& [use, place] : member.leak->uses) told.insert(use);
        for (const Leak::Seen& seen : member.leak->seen) {
          if (!seen.fresh && history_.is_own(*member.leak)) known[former(seen.source, seen.pass)].insert(i);
        }
      }
    }
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (history_.paths[path]->taken.empty()) continue;
      const auto [call, pass] = history_.paths[path]->taken[0];
      for (const Read& read : history_.reads[path].all()) {
        const auto source = told.contains(read.use) ? std::nullopt : history_.own_source(read, pass);
        const auto found = source ? known.find(former(*source, pass)) : known.end();
        if (found != known.end() && found->second.size() == 1)
          found_.formers[*found->second.begin()].push_back({path, read.use, {call, pass, *source}});
      }
    }
  }

  const PathHistory& history_;
  SlotSigns signs_;
  SlotGroups found_;
  std::set<std::shared_ptr<Memory>> written_;  // by some path
  std::set<std::string> shared_names_;         // of several things that one path keeps
  std::map<std::size_t, std::size_t> joined_;  // groups, and into which they went
};

}  // namespace

SlotGroups group_leaks(const PathHistory& history, SlotSigns signs) { return Grouper(history, signs).run(); }

}  // namespace leapp::capture
