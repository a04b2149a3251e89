// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/unread_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "capture/trace/record.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

constexpr std::size_t kMaxNames = 4;

/// How often our own constants refer to a memory. Beyond that, someone else has it too.
using References = std::map<const void*, std::size_t>;

/// A constant of a node, as far as it may be the first value of some state.
struct Suspect {
  ValueType type;
  LocationId location = 0;
  bool in_history = false;  ///< stands in a list beside what the node computed or keeps
  bool fresh = false;       ///< made in the call that read it
};

/// The constants of one node that may have been replaced by something that it left behind.
class Suspects {
 public:
  Suspects(const NodeRecord& node, const References& references) : references_(references) {
    const Slice slice = slice_of(node.output_values);
    for (const TraceOp* op : slice.ops) {
      for (const TraceArgument& argument : op->arguments) {
        if (argument.kind == TraceArgument::Kind::kTensor) add(argument.tensor, false);
        if (argument.kind == TraceArgument::Kind::kTensorList) add_list(argument.list);
      }
    }
  }

  struct Wanted {
    ValueType type;
    bool history_only = false;
    bool later = false;  ///< what the node left was not left by its first call, which may make such a thing for itself
  };

  const Suspect* find(const Wanted& wanted) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Suspect& suspect) {
      return suspect.type == wanted.type && (suspect.in_history || !wanted.history_only) &&
             !(suspect.fresh && wanted.later);
    });
    return found == all_.end() ? nullptr : &*found;
  }

 private:
  void add(const ValuePtr& value, bool beside_others) {
    if (!value || value->kind != TracedKind::kConstant) return;
    const ConstantCell& cell = *value->cell;
    const bool drawn_here = cell.drawn == Drawn::kSettled || cell.drawn == Drawn::kOnce;
    if (cell.parameter || drawn_here || !cell.by_reference || (!beside_others && !replaced(cell))) return;
    all_.push_back({value->type, cell.location, beside_others, cell.fresh});
  }

  void add_list(const std::vector<ValuePtr>& list) {
    for (const ValuePtr& value : list) {
      const bool beside_others = std::any_of(list.begin(), list.end(), [&](const ValuePtr& other) {
        return value && other && !is_constant(*other) && other->type == value->type;
      });
      add(value, beside_others);
    }
  }

  // Nobody but us has it any more.
  bool replaced(const ConstantCell& cell) const {
    const auto ours = references_.find(cell.storage());
    return ours != references_.end() && cell.storage_holders() <= ours->second;
  }

  const References& references_;
  std::vector<Suspect> all_;
};

References count_references(const std::vector<std::unique_ptr<NodeRecord>>& nodes) {
  References references;
  std::set<const ConstantCell*> seen;
  for (const auto& node : nodes) {
    for (const auto& cell : slice_of(node->output_values).constants) {
      if (seen.insert(cell.get()).second) ++references[cell->storage()];
    }
  }
  return references;
}

class Reporter {
 public:
  Reporter(const NodeRecord& node, const References& references, Logger& log)
      : node_(node), suspects_(node, references), log_(log) {}

  /// Whether it is worth asking who holds it.
  bool concerns(const KeptTensor& kept) const {
    if (kept.node != node_.name || (kept.pass != node_.first_pass && !is_of_later_path(kept))) return false;
    if (is_port(kept)) return false;
    const bool known_kind = kept.port.empty() && node_.calls == 1;
    return known_kind || suspects_.find({kept.type, false, is_of_later_path(kept)}) != nullptr;
  }

  void add(const KeptTensor& kept, const Holder& holder) {
    if (holder.kind == Holder::Kind::kNobody) return;
    const bool attribute = holder.kind == Holder::Kind::kAttribute;
    if (is_of_later_path(kept) && !attribute) return;  // variables of the last pass are always there
    // An output stands in variables and lists of the program for many reasons.
    const bool published = !kept.port.empty();
    const Suspect* suspect = suspects_.find({kept.type, published && !attribute, is_of_later_path(kept)});
    const bool single = node_.calls == 1 && !published && attribute;
    if (!suspect && !single) return;
    if (suspect && !read_at_) read_at_ = suspect->location;
    if (!made_at_) made_at_ = made_at(kept);
    names_.insert(holder.name.empty() ? "a variable" : "'" + holder.name + "'");
  }

  void report() const {
    if (names_.empty()) return;
    std::vector<std::string> names(names_.begin(), names_.end());
    if (names.size() > kMaxNames) {
      names.resize(kMaxNames);
      names.emplace_back("more");
    }
    const std::string constant = read_at_
                                     ? fmt::format("what is read{} is exported as a constant", at_line(*read_at_))
                                     : std::string("what they would read is exported as the first call computed it");
    log_.warning(fmt::format(
        "{}node '{}' leaves a tensor in {}, and no call came after the {} recorded that could have read it. If later "
        "calls do, the model is wrong: {}. Run at least {} passes before leapp.stop(), or announce it with "
        "annotate.state_tensors and annotate.update_state",
        line_prefix(made_at_.value_or(0)), node_.name, fmt::format("{}", fmt::join(names, ", ")),
        node_.calls == 1 ? "one" : std::to_string(node_.calls), constant, node_.calls + 1));
  }

 private:
  // A way that only later calls took, of which the last may be one. Outputs are what programs have anyway.
  bool is_of_later_path(const KeptTensor& kept) const {
    return kept.pass != node_.first_pass && kept.port.empty() && node_.later_paths.contains(kept.pass);
  }

  // State that is known already, or memory of which every byte has been followed.
  bool is_port(const KeptTensor& kept) const {
    if (!kept.port.empty()) return false;
    const auto value = node_.survivors.find(kept.key);
    if (value == node_.survivors.end()) return true;
    // A port hands it to the next call. Who still has it after that wants it for longer.
    const bool port =
        std::find(node_.output_values.begin(), node_.output_values.end(), value->second) != node_.output_values.end();
    return (port && node_.calls == 1) || std::any_of(node_.leaks.begin(), node_.leaks.end(), [&](const Leak& leak) {
             return kept.memory && leak.memory.get() == kept.memory;
           });
  }

  LocationId made_at(const KeptTensor& kept) const {
    ValuePtr value;
    if (kept.port.empty()) {
      value = node_.survivors.at(kept.key);
    } else {
      const auto port = std::find_if(node_.outputs.begin(), node_.outputs.end(),
                                     [&](const PortRecord& output) { return output.name == kept.port; });
      if (port != node_.outputs.end()) {
        value = node_.output_values[static_cast<std::size_t>(port - node_.outputs.begin())];
      }
    }
    return value && value->op ? value->op->location : 0;
  }

  const NodeRecord& node_;
  Suspects suspects_;
  Logger& log_;
  std::set<std::string> names_;
  std::optional<LocationId> read_at_;
  std::optional<LocationId> made_at_;
};

}  // namespace

void report_changed_values(const std::vector<std::unique_ptr<NodeRecord>>& nodes,
                           const std::vector<ChangedValues>& changes, Logger& log) {
  std::string once;
  for (const auto& node : nodes) {
    if (node->calls != 1 || !node->options.export_with) continue;
    once += (once.empty() ? "'" : ", '") + node->name + "'";
    for (const ChangedValues& change : changes) {
      if (change.node != node->name) continue;
      log.warning(fmt::format(
          "{}: node '{}' was called once, and {} changed since the call began. If the outputs depend on it, the model "
          "is wrong: it keeps the value of the first call. Run at least 2 passes before leapp.stop(), which shows "
          "whether they do, or keep it in a tensor",
          change.where, node->name, change.what));
    }
  }
  if (!once.empty()) {
    log.info(
        fmt::format("captured once: {}: state and branches that only a second call shows cannot be seen; run two "
                    "passes to have them checked",
                    once));
  }
}

void report_unread_state(const std::vector<std::unique_ptr<NodeRecord>>& nodes, const std::vector<KeptTensor>& kept,
                         const FindHolders& find_holders, Logger& log) {
  if (kept.empty()) return;
  const References references = count_references(nodes);
  std::vector<Reporter> reporters;
  for (const auto& node : nodes) reporters.emplace_back(*node, references, log);
  std::vector<Reporter*> asking;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (Reporter& reporter : reporters) {
      if (!reporter.concerns(kept[i])) continue;
      asking.push_back(&reporter);
      positions.push_back(i);
    }
  }
  if (asking.empty()) return;
  const std::vector<Holder> holders = find_holders(positions);
  for (std::size_t i = 0; i < asking.size(); ++i) asking[i]->add(kept[positions[i]], holders[i]);
  for (const Reporter& reporter : reporters) reporter.report();
}

}  // namespace leapp::capture
