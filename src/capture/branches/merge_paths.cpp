// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/merge_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "capture/branches/branch_report.h"
#include "capture/branches/decision_tree.h"
#include "capture/branches/path_join.h"
#include "capture/branches/phase_paths.h"
#include "capture/branches/phase_state.h"
#include "capture/branches/state_slots.h"
#include "capture/branches/unmergeable_paths.h"
#include "capture/branches/unseen_branches.h"
#include "capture/state/needed_leaks.h"
#include "capture/state/reentry.h"
#include "capture/state/state_beginnings.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

class Merger {
 public:
  /// `told`: lines at which it has been said that one side was never seen.
  Merger(NodeRecord& node, Leaks policy, ConstantEvaluator& evaluator, Logger& log, std::set<LocationId> told)
      : node_(node),
        policy_(policy),
        evaluator_(evaluator),
        log_(log),
        reported_lines_(std::move(told)),
        builder_([](auto&&...) {}, kAfterPaths) {}

  void run() {
    paths_.push_back(&node_);
    for (const auto& other : node_.others) {
      paths_.push_back(other.get());
      if (!other->taken.empty()) node_.later_paths.insert(other->taken[0].second);
    }
    if (try_phases()) {
      node_.others.clear();
      node_.variants = {};
      return;
    }
    node_.variants = {};
    if (node_.guards.empty() && node_.others.empty()) return;
    while (paths_.size() > 1 && !try_merge()) {
    }
    if (paths_.size() == 1) settle_single();
    node_.others.clear();
  }

 private:
  // Calls that go other ways in turn, and no value decides it.
  bool try_phases() {
    if (policy_ == Leaks::kConstant || !node_.options.export_with || node_.left_graph) return false;
    phases_ = PhasePaths::find(node_);
    if (!phases_) return false;
    const std::vector<NodeRecord*> before = std::exchange(paths_, phases_->paths());
    if (policy_ == Leaks::kPromote && merge_phases()) return true;
    if (policy_ == Leaks::kError)
      node_.refusals.push_back(phase_text(node_, phases_->schedule()) + ": " + phase_remedy());
    phases_->undo();
    phases_.reset();
    paths_ = before;
    return false;
  }

  bool merge_phases() {
    DecisionTree tree;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (!tree.add(i, paths_[i]->guards)) return false;
    }
    StateSlots found = find_slots_in_turn(paths_, evaluator_, *phases_);
    std::optional<UnmergeablePath> odd = found.odd;
    if (!odd) odd = find_unexplained(paths_, found.slots);
    if (!odd) odd = find_undecided(tree, found.slots, paths_);
    if (!odd) odd = find_other_types(found.slots);
    if (odd) {
      log_.info(fmt::format("{}, but what it keeps in turn cannot be told: {}", phase_text(node_, phases_->schedule()),
                            odd->reason));
      return false;
    }
    const std::string text = phase_text(node_, phases_->schedule());
    node_.divergences = paths_[0]->divergences;
    node_.survivors = paths_[0]->survivors;
    node_.made_once = paths_[0]->made_once;
    merge(tree, found.slots);
    add_phase(node_, *phases_, builder_, evaluator_);
    log_.warning(
        fmt::format("{}. This is exported as state 'phase', which counts the calls from 0; {}", text, phase_remedy()));
    for (const LocationId line : phases_->unseen()) {
      log_.warning(fmt::format(
          "{}node '{}' reads here what it kept, and not every way that data decides was seen in all of the {} phases. "
          "Where it was not, what is read is as in another phase; run more passes",
          line_prefix(line), node_.name, phases_->schedule().count()));
    }
    return true;
  }

  /// Nobody can read what it begins with.
  bool is_set_in_turn(const StateSlot& slot) const {
    std::vector<bool> sets;
    for (const ValuePtr& next : slot.next) sets.push_back(next != nullptr);
    return phases_ && phases_->is_set_first(slot.leak.uses, sets);
  }

  /// False: a path has been taken out.
  bool try_merge() {
    DecisionTree tree;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (!tree.add(i, paths_[i]->guards)) return exclude_path({i, "it went another way without a value deciding it"});
    }
    StateSlots found = find_slots(paths_, evaluator_);
    if (found.odd) return refuse(*found.odd);
    if (const auto odd = find_unexplained(paths_, found.slots)) return refuse(*odd);
    if (const auto odd = find_baked(found.slots, paths_.size(), policy_)) return exclude_path(*odd);
    if (const auto odd = find_undecided(tree, found.slots, paths_)) return exclude_path(*odd);
    if (const auto odd = find_other_types(found.slots)) return refuse(*odd);
    merge(tree, found.slots);
    return true;
  }

  /// The first call's path stays: what cannot be joined with it goes.
  NodeRecord& odd_one(const UnmergeablePath& odd) const {
    return *paths_[odd.path == 0 ? paths_.size() - 1 : odd.path];
  }

  // What such a path leaves behind is in no sample: the model would be right in all of them, and wrong in the call
  // after.
  bool refuse(const UnmergeablePath& odd) {
    const NodeRecord& path = odd_one(odd);
    if (node_.options.export_with && policy_ == Leaks::kPromote && !refused_) {
      const LocationId line = path.guards.empty() ? 0 : path.guards.front().location();
      node_.refusals.push_back(fmt::format(
          "{}node '{}' branches on data, and what it keeps on the way that call {} took{} cannot be told: {}",
          line_prefix(line), node_.name, path.first_call, way_text(path.guards, path.guards.size()), odd.reason));
    }
    refused_ = true;
    return exclude_path(odd);
  }

  bool exclude_path(const UnmergeablePath& odd) {
    const std::size_t index = odd.path == 0 ? paths_.size() - 1 : odd.path;
    NodeRecord& path = odd_one(odd);
    log_.info(fmt::format("node '{}': the path that call {} took is not joined with that of call 0: {}", node_.name,
                          path.first_call, odd.reason));
    report_as_difference(path);
    for (const auto& [call, pass] : path.taken) left_out_.insert(call);
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(index));
    return false;
  }

  void report_as_difference(const NodeRecord& path) {
    CallComparison comparison(node_, path.first_call, path.taken.empty() ? 0 : path.taken[0].second, evaluator_);
    for (std::size_t i = 0; i < node_.output_values.size(); ++i) {
      comparison.compare(fmt::format("output '{}' of node '{}'", node_.outputs[i].name, node_.name),
                         node_.output_values[i], path.output_values[i]);
    }
    for (Divergence& divergence : comparison.take()) node_.divergences.push_back(std::move(divergence));
  }

  void merge(const DecisionTree& tree, std::vector<StateSlot>& slots) {
    std::set<const StateSlot*> set_first;
    for (const StateSlot& slot : slots) {
      if (slot.unknown_beginning && is_set_first(slot, slots, paths_)) set_first.insert(&slot);
    }
    PathJoin join(node_, paths_, tree, slots, builder_);
    join.join_outputs();
    join_records();
    node_.leaks.clear();
    for (StateSlot& slot : slots) {
      if (slot.unknown_beginning && !set_first.contains(&slot) && !is_set_in_turn(slot))
        log_.warning(unknown_beginning_text(node_.name, slot.leak));
      node_.leaks.push_back(slot.own ? join.join_state(std::move(slot)) : std::move(slot.leak));
    }
    report_unseen(join, reported_lines_, log_);
    report_unproven(join, reported_lines_, log_);
    drop_unneeded_leaks(node_);
    drop_samples();
  }

  void join_records() {
    for (std::size_t i = 1; i < paths_.size(); ++i) {
      for (Divergence& divergence : paths_[i]->divergences) node_.divergences.push_back(std::move(divergence));
      node_.survivors.insert(paths_[i]->survivors.begin(), paths_[i]->survivors.end());
    }
  }

  // A call is worth nothing as a sample when nobody knows what was in the state that it read; but one that the model
  // cannot do has to fail.
  void drop_samples() {
    for (Leak& leak : node_.leaks) {
      if (leak.read.empty()) continue;
      const ContentPtr earliest = leak.read.begin()->second;
      if (leak.source.node == node_.name) {
        std::erase_if(node_.samples, [&](const Sample& sample) {
          return !leak.read.contains(sample.call) && sample.call != 0 && sample.call >= leak.read.begin()->first &&
                 !left_out_.contains(sample.call);
        });
      }
      leak.read.try_emplace(0, earliest);
    }
  }

  void settle_single() {
    std::erase_if(node_.divergences, [](const Divergence& divergence) { return divergence.of_guard; });
    for (Divergence& divergence : node_.unsettled) node_.divergences.push_back(std::move(divergence));
    drop_unneeded_leaks(node_);
  }

  NodeRecord& node_;
  Leaks policy_;
  ConstantEvaluator& evaluator_;
  Logger& log_;
  std::set<LocationId> reported_lines_;
  TraceBuilder builder_;
  std::vector<NodeRecord*> paths_;
  bool refused_ = false;
  std::unique_ptr<PhasePaths> phases_;  // where calls go their ways in turn
  std::set<std::size_t> left_out_;      // calls that took paths which could not be joined
};

}  // namespace

void merge_paths(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, ConstantEvaluator& evaluator,
                 Logger& log) {
  for (const auto& node : nodes) {
    std::set<LocationId> told = report_guards(*node, log);
    if (node->guards.empty() && node->others.empty() && node->variants.variants.empty()) continue;
    Merger(*node, policy, evaluator, log, std::move(told)).run();
  }
}

}  // namespace leapp::capture
