// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/slot_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "capture/state/constant_outputs.h"
#include "capture/state/leaks.h"

namespace leapp::capture {
namespace {

class NextValues {
 public:
  NextValues(const PathHistory& history, const SlotEvidence& evidence, ConstantEvaluator& evaluator, StateSlot& slot)
      : history_(history),
        evidence_(evidence),
        evaluator_(evaluator),
        slot_(slot),
        known_(history.paths.size(), false) {}

  std::optional<UnmergeablePath> find() {
    run();
    return std::move(odd_);
  }

 private:
  // Every path computes it, and so many passes later it is read: a row of them.
  bool is_row() {
    const LeakSource& source = slot_.leak.source;
    std::vector<ValuePtr> values(history_.paths.size());
    const auto add = [&](std::uint64_t pass, const LeakSource& seen) {
      const auto producer = history_.path_in.find(pass - seen.delay);
      if (seen.delay != source.delay || seen.port != source.port || producer == history_.path_in.end()) return false;
      const ValuePtr value = history_.value_of(producer->second, seen);
      ValuePtr& before = values[producer->second];
      if (!value || (before && bare(before) != bare(value))) return false;
      before = value;
      return true;
    };
    for (const auto& [path, leak] : evidence_.group) {
      for (const Leak::Seen& seen : leak->seen) {
        if (!seen.fresh && !add(seen.pass, seen.source)) return false;
      }
    }
    for (const FormerRead& read : evidence_.formers) {
      if (!add(read.seen.pass, read.seen.source)) return false;
    }
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (!values[path]) values[path] = history_.value_of(path, source);
    }
    if (std::find(values.begin(), values.end(), nullptr) != values.end()) return false;
    slot_.next = std::move(values);
    return true;
  }

  void run() {
    add_first_reads();
    if (is_row()) return;
    for (const auto& [path, leak] : evidence_.group) {
      if (!leak->memory || !leak->update) continue;  // a buffer that the call gave another tensor
      slot_.next[path] = leak->update;
      known_[path] = true;
    }
    for (const auto& [path, leak] : evidence_.group) {
      for (const Leak::Seen& seen : leak->seen) {
        if (!seen.fresh) learn(seen);
      }
    }
    for (std::size_t i = 0; i < evidence_.formers.size() || find_formers(); ++i) learn(evidence_.formers[i].seen);
    slot_.leak.source = {history_.paths[0]->name, "", slot_.leak.source.key, 1};
    const std::vector<Leak::Seen> fresh = fresh_reads();
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (known_[path] || learn_fresh(fresh, path) || is_set_after(path)) continue;
      make_odd(path, fmt::format("no call after it shows what it leaves in {}; run another pass after it",
                                 title(slot_.leak)));
    }
  }

  // What it leaves there is nobody's business.
  bool is_set_after(std::size_t path) const {
    std::vector<bool> sets;
    for (std::size_t i = 0; i < known_.size(); ++i) sets.push_back(known_[i] && slot_.next[i]);
    return evidence_.is_set_after && evidence_.is_set_after(path, sets);
  }

  // Where a later call has shown that a path reads the slot, its first one read it, too.
  void add_first_reads() {
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (history_.paths[path]->taken.empty()) continue;
      const auto [call, pass] = history_.paths[path]->taken[0];
      for (const Read& read : history_.reads[path].all()) {
        const auto source = slot_.leak.uses.contains(read.use) ? history_.own_source(read, pass) : std::nullopt;
        if (source) evidence_.formers.push_back({path, read.use, {call, pass, *source}});
      }
    }
  }

  // What a path reads only for what it keeps shows by where it comes from: another path, or this one, has left it in
  // the slot, and nobody has touched it since.
  bool find_formers() {
    const std::size_t before = evidence_.formers.size();
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (history_.paths[path]->taken.empty()) continue;
      const auto [call, pass] = history_.paths[path]->taken[0];
      for (const Read& read : history_.reads[path].all()) {
        const auto source = history_.own_source(read, pass);
        if (!source || read.value->type != slot_.leak.type || slot_.leak.uses.contains(read.use) ||
            evidence_.is_taken(read.use))
          continue;
        if (!is_left_in(*source, pass)) continue;
        slot_.leak.uses.emplace(read.use, whole_of(slot_));
        evidence_.formers.push_back({path, read.use, {call, pass, *source}});
      }
    }
    return evidence_.formers.size() > before;
  }

  bool is_left_in(const LeakSource& source, std::uint64_t pass) const {
    const auto producer = history_.path_in.find(pass - source.delay);
    if (producer == history_.path_in.end() || !known_[producer->second] || !slot_.next[producer->second]) return false;
    const ValuePtr value = history_.value_of(producer->second, source);
    return value && bare(value) == bare(slot_.next[producer->second]);
  }

  /// Calls that found there what no node had computed.
  std::vector<Leak::Seen> fresh_reads() const {
    std::vector<Leak::Seen> found = evidence_.aligned;
    for (const auto& [path, leak] : evidence_.group) {
      for (const Leak::Seen& seen : leak->seen) {
        if (seen.fresh) found.push_back(seen);
      }
    }
    for (const NodeRecord* path : history_.paths) {
      for (const Divergence& divergence : path->divergences) {
        if (!divergence.now || !slot_.leak.uses.contains(divergence.use)) continue;
        for (const auto& [call, pass] : path->taken) {
          if (call == divergence.call) found.push_back({call, pass, {}, divergence.now});
        }
      }
    }
    return found;
  }

  // The path that ran before such a call has left a constant there, if it was always the same, or nothing.
  bool learn_fresh(const std::vector<Leak::Seen>& fresh, std::size_t path) {
    ValuePtr left;
    bool unchanged = false;
    for (const Leak::Seen& seen : fresh) {
      const auto after = history_.path_in.lower_bound(seen.pass);
      if (after == history_.path_in.begin() || std::prev(after)->second != path) continue;
      if (was_there(seen)) {
        unchanged = true;
        continue;
      }
      const bool same = !left || same_content(*evaluator_.value_of(left), *evaluator_.value_of(seen.fresh));
      if (!same)
        make_odd(path, fmt::format("what is found in {} after it is not the same each time", title(slot_.leak)));
      left = seen.fresh;
    }
    if (left && unchanged)
      make_odd(path, fmt::format("it leaves {} alone in some calls and not in others", title(slot_.leak)));
    if (left) slot_.next[path] = left;
    return left || unchanged;
  }

  // Whether the call before it that read the slot found that very tensor there.
  bool was_there(const Leak::Seen& seen) const {
    std::uint64_t latest = 0;
    ValuePtr before;  // null: what a node had computed
    const auto look_at = [&](std::uint64_t pass, const ValuePtr& value) {
      if (pass >= seen.pass || pass < latest) return;
      latest = pass;
      before = value;
    };
    for (std::size_t path = 0; path < history_.paths.size(); ++path) {
      if (history_.paths[path]->taken.empty()) continue;
      const std::uint64_t pass = history_.paths[path]->taken[0].second;
      for (const Read& read : history_.reads[path].all()) {
        if (slot_.leak.uses.contains(read.use)) look_at(pass, history_.own_source(read, pass) ? nullptr : read.value);
      }
    }
    for (const Leak::Seen& one : slot_.leak.seen) look_at(one.pass, one.fresh);
    if (!before || before->kind != seen.fresh->kind) return false;
    return before->kind == TracedKind::kConstant ? before->cell->is_same_memory(*seen.fresh->cell)
                                                 : before == seen.fresh;
  }

  void learn(const Leak::Seen& seen) {
    const std::uint64_t made = seen.pass - seen.source.delay;
    const auto producer = history_.path_in.find(made);
    if (producer == history_.path_in.end()) return;
    const ValuePtr value = history_.value_of(producer->second, seen.source);
    if (!value) return make_odd(producer->second, not_computed());
    if (made == history_.path_in.begin()->first && is_constant(*bare(value))) {
      learn_beginning(seen.source, value);
    } else {
      set_next(producer->second, value);
    }
    for (auto between = history_.path_in.upper_bound(made);
         between != history_.path_in.end() && between->first < seen.pass; ++between)
      set_next(between->second, nullptr);
  }

  // What the first call makes out of constants and keeps is what the state begins with, if later ones on that way do
  // not make it again.
  void learn_beginning(const LeakSource& source, const ValuePtr& value) {
    const std::size_t path = history_.path_in.begin()->second;
    const bool once = history_.paths[path]->taken.size() == 1;
    if (once && is_asked_for_phase(path)) return set_next(path, value);
    if (once) {
      return make_odd(path, fmt::format("only the first call took it, so nobody can tell whether {} begins with what "
                                        "it sets or is set so each time; run another pass that takes it",
                                        title(slot_.leak)));
    }
    const bool again = !history_.paths[path]->made_once.contains(source.key);
    set_next(path, again ? value : nullptr);
    if (!again) slot_.leak.read.try_emplace(0, evaluator_.value_of(bare(value)));
  }

  /// Which call takes it is known, and so is that no other does.
  bool is_asked_for_phase(std::size_t path) const {
    const auto& guards = history_.paths[path]->guards;
    return !guards.empty() && guards.front().phase;
  }

  void set_next(std::size_t path, const ValuePtr& value) {
    const bool same = !known_[path] || slot_.next[path] == value ||
                      (slot_.next[path] && value && bare(slot_.next[path]) == bare(value));
    if (!same)
      return make_odd(path, fmt::format("what it leaves in {} is not the same in all of its calls", title(slot_.leak)));
    slot_.next[path] = value;
    known_[path] = true;
  }

  std::string not_computed() const {
    return fmt::format("what it leaves in {} is not what its first call computed", title(slot_.leak));
  }

  void make_odd(std::size_t path, std::string reason) {
    if (!odd_) odd_ = UnmergeablePath{path, std::move(reason)};
  }

  const PathHistory& history_;
  const SlotEvidence& evidence_;
  ConstantEvaluator& evaluator_;
  StateSlot& slot_;
  std::vector<bool> known_;  // by path
  std::optional<UnmergeablePath> odd_;
};

}  // namespace

std::optional<UnmergeablePath> find_next_values(const PathHistory& history, const SlotEvidence& evidence,
                                                ConstantEvaluator& evaluator, StateSlot& slot) {
  return NextValues(history, evidence, evaluator, slot).find();
}

}  // namespace leapp::capture
