// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/merge_paths.h"

#include <c10/util/accumulate.h>
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
#include "capture/guard_report.h"
#include "capture/leaks.h"
#include "capture/op_info.h"
#include "capture/path_choice.h"
#include "capture/path_reads.h"
#include "capture/phase_paths.h"
#include "capture/reentry.h"
#include "capture/slice.h"
#include "capture/state_slots.h"
#include "capture/trace_builder.h"
#include "capture/value_key.h"
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
  /// `told`: lines at which it has been said that one side was never seen.
  Merger(NodeRecord& node, Leaks policy, Evaluator& evaluator, Logger& log, std::set<LocationId> told)
      : node_(node),
        policy_(policy),
        evaluator_(evaluator),
        log_(log),
        told_(std::move(told)),
        builder_([](auto&&...) {}, kAfterAll) {}

  void run() {
    paths_.push_back(&node_);
    for (const auto& other : node_.others) {
      paths_.push_back(other.get());
      if (!other->taken.empty()) node_.later_paths.insert(other->taken[0].second);
    }
    if (try_phases()) {
      node_.others.clear();
      node_.ways = {};
      return;
    }
    node_.ways = {};
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
    if (policy_ == Leaks::kError) node_.refusals.push_back(phase_text() + ": " + phase_remedy());
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
    std::optional<OddPath> odd = found.odd;
    if (!odd) odd = find_unexplained(paths_, found.slots);
    if (!odd) odd = undecided(tree, found.slots);
    if (!odd) odd = other_types(found.slots);
    if (odd) {
      log_.info(fmt::format("{}, but what it keeps in turn cannot be told: {}", phase_text(), odd->reason));
      return false;
    }
    const std::string text = phase_text();
    node_.divergences = paths_[0]->divergences;
    node_.survivors = paths_[0]->survivors;
    node_.made_once = paths_[0]->made_once;
    merge(tree, found.slots);
    add_phase();
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

  std::string phase_text() const {
    const Schedule& turn = phases_->schedule();
    const LocationId line = node_.divergences.empty() ? 0 : node_.divergences.front().location;
    const std::string begin = turn.warm_up == 0   ? "the same"
                              : turn.warm_up == 1 ? "after the first one the same"
                                                  : fmt::format("after the first {} the same", turn.warm_up);
    return fmt::format(
        "{}node '{}' goes other ways from call to call, and no value decides it: the program counts by itself. Its {} "
        "calls did {} {}",
        line_prefix(line), node_.name, node_.calls, begin,
        turn.period == 1 ? "each time" : fmt::format("every {} calls", turn.period));
  }

  static std::string phase_remedy() {
    return (
        "if it does anything else (when it is reset, or after more calls), keep what it counts in an integer tensor "
        "that decides (`if self.place == 0`), which the model then does, too");
  }

  // The number that decides between the ways, as state.
  void add_phase() {
    Leak leak;
    leak.source = {node_.name, "", mix_hash(node_.calls, phases_->schedule().count()), 1};
    leak.type = {at::kLong, {}};
    leak.name = "phase";
    leak.declared = true;
    leak.update = phases_->next(builder_);
    std::vector<ValuePtr> roots = node_.output_values;
    for (const Leak& other : node_.leaks) {
      if (other.update) roots.push_back(other.update);
    }
    roots.push_back(leak.update);
    for (const TraceOp* op : slice_of(roots).ops) {
      std::size_t operand = 0;
      for_each_operand(*op, [&](const ValuePtr& value) {
        if (phases_->is_phase(value)) leak.uses.emplace(Use{const_cast<TraceOp*>(op), operand}, Geometry());
        ++operand;
      });
    }
    for (const Sample& sample : node_.samples) {
      leak.read[sample.call] = phase_content(sample.call);
      leak.next[sample.call] = phase_content(sample.call + 1);
    }
    leak.read.try_emplace(0, phase_content(0));
    node_.leaks.push_back(std::move(leak));
  }

  ContentPtr phase_content(std::size_t call) {
    const auto phase = static_cast<std::int64_t>(phases_->schedule().phase_of(call));
    return evaluator_.value_of(builder_.full({}, phase, at::kLong));
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
      if (!tree.add(i, paths_[i]->guards)) return take_out({i, "it went another way without a value deciding it"});
    }
    StateSlots found = find_slots(paths_, evaluator_);
    if (found.odd) return refuse(*found.odd);
    if (const auto odd = find_unexplained(paths_, found.slots)) return refuse(*odd);
    if (const auto odd = baked(found.slots)) return take_out(*odd);
    if (const auto odd = undecided(tree, found.slots)) return take_out(*odd);
    if (const auto odd = other_types(found.slots)) return refuse(*odd);
    merge(tree, found.slots);
    return true;
  }

  /// The first call's path stays: what cannot be joined with it goes.
  NodeRecord& odd_one(const OddPath& odd) const { return *paths_[odd.path == 0 ? paths_.size() - 1 : odd.path]; }

  // What such a path leaves behind is in no sample: the model would be right in all of them, and wrong in the call
  // after.
  bool refuse(const OddPath& odd) {
    const NodeRecord& path = odd_one(odd);
    if (node_.options.export_with && policy_ == Leaks::kPromote && !refused_) {
      const LocationId line = path.guards.empty() ? 0 : path.guards.front().location();
      node_.refusals.push_back(fmt::format(
          "{}node '{}' branches on data, and what it keeps on the way that call {} took{} cannot be told: {}",
          line_prefix(line), node_.name, path.first_call, way_text(path.guards, path.guards.size()), odd.reason));
    }
    refused_ = true;
    return take_out(odd);
  }

  bool take_out(const OddPath& odd) {
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

  std::optional<OddPath> other_types(const std::vector<StateSlot>& slots) const {
    for (const StateSlot& slot : slots) {
      for (std::size_t i = 0; i < slot.next.size(); ++i) {
        const ValuePtr& value = slot.next[i];
        if (slot.own && value && value->type != slot.leak.type && !is_flat(*value, slot.leak)) {
          return OddPath{i, fmt::format("it leaves {} in {}, which is {}", type_text(value->type), title(slot.leak),
                                        type_text(slot.leak.type))};
        }
      }
    }
    return std::nullopt;
  }

  /// Memory as a whole, without the shape that the program has given it.
  static bool is_flat(const TracedValue& value, const Leak& leak) {
    return leak.in_place && value.type.dtype == leak.type.dtype &&
           c10::multiply_integers(value.type.sizes) == c10::multiply_integers(leak.type.sizes);
  }

  /// One value for each, so that ways which leave the same still do.
  ValuePtr shaped(const ValuePtr& value, const Leak& leak) {
    if (value->type == leak.type) return value;
    ValuePtr& made = shaped_[{value, leak.type.sizes}];
    if (!made) made = builder_.reshape(value, leak.type.sizes);
    return made;
  }

  void merge(const DecisionTree& tree, std::vector<StateSlot>& slots) {
    const std::map<Use, std::string> states = operands_of(slots);
    std::set<const StateSlot*> set_first;
    for (const StateSlot& slot : slots) {
      if (slot.unknown_beginning && is_set_first(slot, slots)) set_first.insert(&slot);
    }
    ValueNumbers numbers(states);
    for (const NodeRecord* path : paths_) numbers.add(roots_of(*path));
    node_.joined = numbers.results();
    // Of what was set apart only what turned out to be state needs its operator.
    const auto stands_for = [&](const ValuePtr& value) {
      const bool state = is_set_apart(*value) && states.contains({value->op.get(), 0});
      return numbers.of(state ? value : bare(value));
    };
    std::vector<PathAnswers> answers;
    for (const NodeRecord* path : paths_) {
      PathAnswers& added = answers.emplace_back(PathAnswers{{}, path->guards});
      for (const Guard& guard : path->guards) added.conditions.push_back(stands_for(guard.value));
    }
    std::vector<ChoicePtr> choices;
    for (std::size_t i = 0; i < node_.output_values.size(); ++i) {
      std::vector<ValuePtr> values;
      for (const NodeRecord* path : paths_) values.push_back(stands_for(path->output_values[i]));
      choices.push_back(chosen_of(tree, values, answers, fmt::format("output '{}'", node_.outputs[i].name)));
      const ValuePtr chosen = emit(*choices.back(), builder_);
      node_.output_values[i] = is_constant(*chosen) ? set_apart(chosen, builder_) : chosen;
    }
    join_records();
    node_.leaks.clear();
    for (StateSlot& slot : slots) {
      if (slot.unknown_beginning && !set_first.contains(&slot) && !is_set_in_turn(slot)) warn_of_beginning(slot.leak);
      if (!slot.own) {
        node_.leaks.push_back(std::move(slot.leak));
        continue;
      }
      // In the place of what a path leaves alone: promote.h puts the state itself there.
      const ValuePtr found = make_value(TracedKind::kInput, slot.leak.type, {.port = ""});
      std::vector<ValuePtr> values;
      for (const ValuePtr& next : slot.next) values.push_back(next ? shaped(stands_for(next), slot.leak) : found);
      choices.push_back(chosen_of(tree, values, answers, fmt::format("state '{}'", slot.leak.name)));
      node_.leaks.push_back(join(std::move(slot.leak), *choices.back(), found));
    }
    report_unseen(tree, answers, choices, states);
    report_unproven(answers);
    drop_unneeded_leaks(node_);
    drop_samples();
  }

  // A first step can only take ways that set it and do not read it: those which do are decided by state, as it is then.
  bool is_set_first(const StateSlot& slot, const std::vector<StateSlot>& slots) const {
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      const bool sets = slot.own && slot.next[path] && !reads(*paths_[path], slot);
      if (!sets && !is_later_way(*paths_[path], slots)) return false;
    }
    return true;
  }

  static bool reads(const NodeRecord& path, const StateSlot& slot) {
    const Slice slice = slice_of(roots_of(path));
    const std::set<const TraceOp*> ops(slice.ops.begin(), slice.ops.end());
    return std::any_of(slot.leak.uses.begin(), slot.leak.uses.end(),
                       [&](const auto& use) { return ops.contains(use.first.op); });
  }

  // It parts from the first call's way where nothing but state decides, which no input changes before the first step.
  bool is_later_way(const NodeRecord& path, const std::vector<StateSlot>& slots) const {
    const std::size_t common = std::min(path.guards.size(), paths_[0]->guards.size());
    for (std::size_t i = 0; i < common; ++i) {
      const Guard& guard = path.guards[i];
      if (!same_question(guard, paths_[0]->guards[i])) return false;
      if (guard.taken == paths_[0]->guards[i].taken || guard.either || paths_[0]->guards[i].either) continue;
      return is_known_at_first(guard.value, slots);
    }
    return false;
  }

  static bool is_known_at_first(const ValuePtr& value, const std::vector<StateSlot>& slots) {
    if (bare(value)->kind == TracedKind::kInput) return false;
    bool known = true;
    for (const TraceOp* op : slice_of({value}).ops) {
      std::size_t operand = 0;
      known = known && !op->random;
      for_each_operand(*op, [&](const ValuePtr& read) {
        const Use use{const_cast<TraceOp*>(op), operand++};
        known = known && read->kind != TracedKind::kInput &&
                std::none_of(slots.begin(), slots.end(), [&](const StateSlot& slot) {
                  return (slot.unknown_beginning || !slot.own) && slot.leak.uses.contains(use);
                });
      });
    }
    return known;
  }

  // Who reads it first when the model runs may not be who read it first here.
  void warn_of_beginning(const Leak& leak) {
    const std::string first =
        leak.read.empty() ? "nothing" : fmt::format("what call {} found there", leak.read.begin()->first);
    log_.warning(fmt::format(
        "{}node '{}' keeps {}, and no call shows what was in it at the beginning: the model begins with "
        "{}. Run a first pass that reads it before it is set",
        line_prefix(leak.location), node_.name, leak.name.empty() ? "a tensor" : "'" + leak.name + "'", first));
  }

  /// What a path leaves alone has to be an operand of something for promote.h to find it.
  Leak join(Leak leak, const Choice& choice, const ValuePtr& found) {
    leak.update = emit(choice, builder_);
    if (leak.update == found) leak.update = builder_.unary("aten::alias", found);
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
    // An output is that state only where every path leaves it.
    const bool is_output = std::any_of(node_.output_values.begin(), node_.output_values.end(),
                                       [&](const ValuePtr& value) { return bare(value) == leak.update; });
    if (!is_output) leak.source.port.clear();
    return leak;
  }

  ChoicePtr chosen_of(const DecisionTree& tree, const std::vector<ValuePtr>& values,
                      const std::vector<PathAnswers>& answers, const std::string& what) {
    std::vector<PathGuard> unproven;
    ChoicePtr choice = choose(tree, values, answers, &unproven);
    for (const PathGuard& guard : unproven) {
      if (!answers[guard.path].guards[guard.guard].phase) unproven_.emplace_back(guard, what);
    }
    return choice;
  }

  // A guard that went one way only after some answers, and both ways after others, in what depends on it; or one that
  // asks of what only this way computes, so that nobody has seen the other side.
  void report_unseen(const DecisionTree& tree, const std::vector<PathAnswers>& answers,
                     const std::vector<ChoicePtr>& choices, const std::map<Use, std::string>& states) {
    std::set<std::pair<const TracedValue*, bool>> seen;
    for (const PathAnswers& way : answers) {
      for (std::size_t i = 0; i < way.guards.size(); ++i) seen.emplace(way.conditions[i].get(), way.guards[i].taken);
    }
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      const PathAnswers& way = answers[path];
      for (std::size_t i = 0; i < way.guards.size(); ++i) {
        const Guard& guard = way.guards[i];
        if (guard.phase || told_.contains(guard.location()) || tree.forks(path, i)) continue;
        const bool known = seen.contains({way.conditions[i].get(), !guard.taken});
        // Nobody sees what is asked of a length; only where another way has shown that it decides, it does.
        if (guard.rows && (!known || guard.either)) continue;
        const bool matters = known ? std::any_of(choices.begin(), choices.end(),
                                                 [&](const ChoicePtr& choice) {
                                                   return decides(*choice, way.conditions[i]) &&
                                                          !decides(*choice, way.conditions[i], &way);
                                                 })
                                   : depends(way.conditions[i], states);
        if (!matters) continue;
        told_.insert(guard.location());
        log_.warning(fmt::format(
            "{}node '{}' branches on a value here that was always {} on the way that call {} took{}, while on other "
            "ways it was both. It is exported that way; run a pass in which it is {} there to have both sides",
            line_prefix(guard.location()), node_.name, guard.taken, paths_[path]->first_call, way_text(way.guards, i),
            !guard.taken));
      }
    }
  }

  // What was left out of a choice because the passes can be explained without it, and with it as well.
  void report_unproven(const std::vector<PathAnswers>& answers) {
    for (const auto& [at, what] : unproven_) {
      const LocationId line = answers[at.path].guards[at.guard].location();
      if (answers[at.path].guards[at.guard].rows || !told_.insert(line).second) continue;
      log_.warning(
          fmt::format("{}node '{}' branches on a value here that changed only together with other branches, so that "
                      "nobody can tell which of them {} depends on. It is exported as if it did not depend on this "
                      "one; run a pass that differs from another one in this branch alone",
                      line_prefix(line), node_.name, what));
    }
  }

  static std::string way_text(const std::vector<Guard>& guards, std::size_t end) {
    std::string text;
    for (std::size_t i = 0; i < end; ++i) {
      if (guards[i].rows || guards[i].phase) continue;
      text +=
          fmt::format("{}{} at {}", text.empty() ? " (" : ", ", guards[i].taken, location_text(guards[i].location()));
    }
    return text.empty() ? text : text + ")";
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
  Evaluator& evaluator_;
  Logger& log_;
  std::set<LocationId> told_;
  TraceBuilder builder_;
  std::vector<NodeRecord*> paths_;
  std::vector<std::pair<PathGuard, std::string>> unproven_;  // and what was chosen without it
  std::map<std::pair<ValuePtr, c10::DimVector>, ValuePtr> shaped_;
  bool refused_ = false;
  std::unique_ptr<PhasePaths> phases_;  // where calls go their ways in turn
  std::set<std::size_t> left_out_;      // calls that took paths which could not be joined
};

}  // namespace

void merge_paths(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, Evaluator& evaluator,
                 Logger& log) {
  for (const auto& node : nodes) {
    std::set<LocationId> told = report_guards(*node, log);
    if (node->guards.empty() && node->others.empty() && node->ways.ways.empty()) continue;
    Merger(*node, policy, evaluator, log, std::move(told)).run();
  }
}

}  // namespace leapp::capture
