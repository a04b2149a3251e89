// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/merge_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "capture/constant_outputs.h"
#include "capture/decision_tree.h"
#include "capture/op_info.h"
#include "capture/reentry.h"
#include "capture/slice.h"
#include "capture/state_slots.h"
#include "capture/trace_builder.h"
#include "capture/value_numbers.h"

namespace leapp::capture {
namespace {

constexpr std::uint64_t kAfterAll = std::uint64_t{1} << 48U;  // where operators stand that join what programs computed

/// Leaks that nothing but a guard depended on, which is none any more.
void drop_unneeded_leaks(NodeRecord& node) {
  std::set<const TraceOp*> needed;
  const auto need = [&](const std::vector<ValuePtr>& values) {
    for (const TraceOp* op : slice_of(values).ops) needed.insert(op);
  };
  need(node.output_values);
  std::set<const Leak*> kept;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Leak& leak : node.leaks) {
      const bool used = leak.declared || std::any_of(leak.uses.begin(), leak.uses.end(),
                                                     [&](const auto& use) { return needed.contains(use.first.op); });
      if (!used || !kept.insert(&leak).second) continue;
      if (leak.update) need({leak.update});
      const auto survivor = node.survivors.find(leak.source.key);
      if (!leak.update && survivor != node.survivors.end()) need({survivor->second});
      changed = true;
    }
  }
  std::vector<Leak> leaks;
  for (Leak& leak : node.leaks) {
    if (kept.contains(&leak)) leaks.push_back(std::move(leak));
  }
  node.leaks = std::move(leaks);
}

class Merger {
 public:
  Merger(NodeRecord& node, Leaks policy, Evaluator& evaluator, Logger& log)
      : node_(node), policy_(policy), evaluator_(evaluator), log_(log), builder_([](auto&&...) {}, kAfterAll) {}

  void run() {
    paths_.push_back(&node_);
    for (const auto& other : node_.others) paths_.push_back(other.get());
    while (paths_.size() > 1 && !try_merge()) {
    }
    if (paths_.size() == 1) settle_single();
    node_.others.clear();
  }

 private:
  /// False: a path has been taken out.
  bool try_merge() {
    DecisionTree tree;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (!tree.add(i, paths_[i]->guards)) return take_out({i, "it went another way without a value deciding it"});
    }
    StateSlots found = find_slots(paths_, evaluator_);
    if (found.odd) return take_out(*found.odd);
    if (const auto odd = baked(found.slots)) return take_out(*odd);
    if (const auto odd = undecided(tree, found.slots)) return take_out(*odd);
    if (const auto odd = other_types(found.slots)) return take_out(*odd);
    merge(tree, found.slots);
    return true;
  }

  bool take_out(const OddPath& odd) {
    // The first call's path stays: what cannot be joined with it goes.
    const std::size_t index = odd.path == 0 ? paths_.size() - 1 : odd.path;
    NodeRecord& path = *paths_[index];
    log_.info(fmt::format("node '{}': the path that call {} took is not joined with that of call 0: {}", node_.name,
                          path.first_call, odd.reason));
    report_as_difference(path);
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(index));
    return false;
  }

  void report_as_difference(const NodeRecord& path) {
    Comparison comparison(node_, path.first_call, path.taken.empty() ? 0 : path.taken[0].second, evaluator_);
    for (std::size_t i = 0; i < node_.output_values.size(); ++i) {
      comparison.compare(fmt::format("output '{}' of node '{}'", node_.outputs[i].name, node_.name),
                         node_.output_values[i], path.output_values[i]);
    }
    for (Divergence& divergence : comparison.take()) node_.divergences.push_back(std::move(divergence));
  }

  /// State that the user wants to be a constant cannot be what one path leaves and another finds.
  std::optional<OddPath> baked(const std::vector<StateSlot>& slots) const {
    const bool constant = policy_ == Leaks::kConstant && std::any_of(slots.begin(), slots.end(), [](const auto& slot) {
                            return slot.own && !slot.leak.declared;
                          });
    if (!constant) return std::nullopt;
    return OddPath{paths_.size() - 1, "what the node keeps is exported as a constant (leaks='constant')"};
  }

  /// A guard on something that is neither an input nor state: a clock, a file, what the program counts elsewhere.
  std::optional<OddPath> undecided(const DecisionTree& tree, const std::vector<StateSlot>& slots) const {
    const std::map<Use, std::string> states = operands_of(slots);
    std::optional<OddPath> odd;
    tree.visit([&](std::size_t path, std::size_t guard, std::size_t other) {
      if (odd || depends(paths_[path]->guards[guard].value, states)) return;
      odd = OddPath{other, fmt::format("what decided{} depends neither on the node's inputs nor on state",
                                       at_line(paths_[path]->guards[guard].location()))};
    });
    return odd;
  }

  static bool depends(const ValuePtr& value, const std::map<Use, std::string>& states) {
    bool found = bare(value)->kind == TracedKind::kInput;
    for (const TraceOp* op : slice_of({value}).ops) {
      std::size_t operand = 0;
      found = found || op->random;
      for_each_operand(*op, [&](const ValuePtr& read) {
        found = found || read->kind == TracedKind::kInput || states.contains({const_cast<TraceOp*>(op), operand});
        ++operand;
      });
    }
    return found;
  }

  std::optional<OddPath> other_types(const std::vector<StateSlot>& slots) const {
    for (const StateSlot& slot : slots) {
      for (std::size_t i = 0; i < slot.next.size(); ++i) {
        const ValuePtr& value = slot.next[i];
        if (slot.own && value && value->type != slot.leak.type) {
          return OddPath{i, fmt::format("it leaves {} in '{}', which is {}", type_text(value->type), slot.leak.name,
                                        type_text(slot.leak.type))};
        }
      }
    }
    return std::nullopt;
  }

  void merge(const DecisionTree& tree, std::vector<StateSlot>& slots) {
    const std::map<Use, std::string> states = operands_of(slots);
    ValueNumbers numbers(states);
    for (const NodeRecord* path : paths_) numbers.add(roots_of(*path));
    // Of what was set apart only what turned out to be state needs its operator.
    const auto stands_for = [&](const ValuePtr& value) {
      const bool state = is_set_apart(*value) && states.contains({value->op.get(), 0});
      return numbers.of(state ? value : bare(value));
    };
    const auto guard = [&](std::size_t path, std::size_t index) {
      const Guard& decided = paths_[path]->guards[index];
      builder_.set_current(decided.op->info, decided.location());
      return stands_for(decided.value);
    };
    for (std::size_t i = 0; i < node_.output_values.size(); ++i) {
      std::vector<ValuePtr> values;
      for (const NodeRecord* path : paths_) values.push_back(stands_for(path->output_values[i]));
      const ValuePtr chosen = choose(tree, values, guard);
      node_.output_values[i] = is_constant(*chosen) ? set_apart(chosen, builder_) : chosen;
    }
    join_records();
    node_.leaks.clear();
    for (StateSlot& slot : slots) node_.leaks.push_back(join(slot, tree, stands_for, guard));
    drop_unneeded_leaks(node_);
    drop_samples();
  }

  using GuardValue = std::function<ValuePtr(std::size_t path, std::size_t guard)>;

  ValuePtr choose(const DecisionTree& tree, const std::vector<ValuePtr>& values, const GuardValue& guard) {
    return tree.fold<ValuePtr>([&](std::size_t path) { return values[path]; },
                               [&](std::size_t path, std::size_t index, const ValuePtr& yes, const ValuePtr& no) {
                                 if (yes == no) return yes;
                                 const ValuePtr condition = guard(path, index);
                                 return builder_.where(condition, yes, no);
                               });
  }

  Leak join(StateSlot& slot, const DecisionTree& tree, const std::function<ValuePtr(const ValuePtr&)>& stands_for,
            const GuardValue& guard) {
    Leak leak = std::move(slot.leak);
    if (!slot.own) return leak;
    // In the place of what a path leaves alone: promote.h puts the state itself there.
    const ValuePtr found = make_value(TracedKind::kInput, leak.type, {.port = ""});
    std::vector<ValuePtr> values;
    for (const ValuePtr& next : slot.next) values.push_back(next ? stands_for(next) : found);
    leak.update = choose(tree, values, guard);
    std::set<const TraceOp*> seen;
    const std::function<void(const ValuePtr&)> note = [&](const ValuePtr& value) {
      if (value->kind != TracedKind::kResult || value->op->sequence < kAfterAll || !seen.insert(value->op.get()).second)
        return;
      std::size_t operand = 0;
      for_each_operand(*value->op, [&](const ValuePtr& read) {
        if (read == found) leak.uses.emplace(Use{value->op.get(), operand}, leak.memory ? leak.place : Geometry());
        note(read);
        ++operand;
      });
    };
    note(leak.update);
    if (leak.source.port.empty() || leak.update->kind != TracedKind::kResult) return leak;
    // An output is that state only where every path leaves it.
    const bool is_output = std::any_of(node_.output_values.begin(), node_.output_values.end(),
                                       [&](const ValuePtr& value) { return bare(value) == leak.update; });
    if (!is_output) leak.source.port.clear();
    return leak;
  }

  void join_records() {
    for (std::size_t i = 1; i < paths_.size(); ++i) {
      for (Divergence& divergence : paths_[i]->divergences) node_.divergences.push_back(std::move(divergence));
      node_.survivors.insert(paths_[i]->survivors.begin(), paths_[i]->survivors.end());
    }
  }

  // A call is worth nothing as a sample when nobody knows what was in the state that it read.
  void drop_samples() {
    for (Leak& leak : node_.leaks) {
      if (leak.read.empty()) continue;
      const ContentPtr earliest = leak.read.begin()->second;
      if (leak.source.node == node_.name) {
        std::erase_if(node_.samples, [&](const Sample& sample) {
          return !leak.read.contains(sample.call) && sample.call != 0 && sample.call >= leak.read.begin()->first;
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
  Evaluator& evaluator_;
  Logger& log_;
  TraceBuilder builder_;
  std::vector<NodeRecord*> paths_;
};

void report_guards(const NodeRecord& node, Logger& log) {
  for (const auto& [location, count] : node.guard_counts) {
    const std::string name = count.op->qualified_name();
    const std::string seen = fmt::format("{}: {} times yes, {} times no", name, count.yes, count.no);
    log.info(fmt::format("{}branch of node '{}', {}", line_prefix(location), node.name, seen));
    if (count.rows || (count.yes > 0 && count.no > 0)) continue;
    const std::size_t times = count.yes + count.no;
    log.warning(
        fmt::format("{}node '{}' branches on a value here: {} was {} in {}, never {}. It is exported that way; "
                    "run a pass in which it is {} to have both sides in the model",
                    line_prefix(location), node.name, name, count.yes > 0 ? "true" : "false",
                    times == 1 ? "the only case" : fmt::format("all {} cases", times), count.yes > 0 ? "false" : "true",
                    count.yes > 0 ? "false" : "true"));
  }
  std::size_t lost = 0;
  for (const auto& [hash, times] : node.not_kept) lost += times;
  if (lost == 0) return;
  log.warning(
      fmt::format("node '{}' took more than {} paths; {} calls went ways that are not in the model (those taken "
                  "most often are). Branches on data:{}",
                  node.name, node.others.size() + 1, lost, [&] {
                    std::string lines;
                    for (const auto& [location, count] : node.guard_counts) {
                      if (count.yes > 0 && count.no > 0) lines += at_line(location);
                    }
                    return lines;
                  }()));
}

}  // namespace

void merge_paths(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, Evaluator& evaluator,
                 Logger& log) {
  for (const auto& node : nodes) {
    report_guards(*node, log);
    if (node->guards.empty() && node->others.empty()) continue;
    Merger(*node, policy, evaluator, log).run();
  }
}

}  // namespace leapp::capture
