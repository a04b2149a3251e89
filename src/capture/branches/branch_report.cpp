// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/branch_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

/// Whether an input or something kept decides at a line. What else decides is none of the model's business.
bool is_decided(const NodeRecord& node, LocationId location) {
  const auto decided = [&](const NodeRecord& path) {
    std::map<Use, std::string> states;
    for (const Leak& leak : path.leaks) {
      for (const auto& [use, place] : leak.uses) states.emplace(use, leak.name);
    }
    return std::any_of(path.guards.begin(), path.guards.end(), [&](const BranchCondition& guard) {
      return guard.location() == location && depends(guard.value, states);
    });
  };
  return decided(node) ||
         std::any_of(node.others.begin(), node.others.end(), [&](const auto& other) { return decided(*other); });
}

/// "aten::is_nonzero": what the program asked.
std::string question_text(const ConditionCount& count) {
  return count.asked ? "the comparison" : count.op->qualified_name();
}

std::string round_text(const ConditionPlace& place) {
  return place.round == 0 ? "" : fmt::format(" in round {}", place.round + 1);
}

}  // namespace

bool depends(const ValuePtr& value, const std::map<Use, std::string>& states) {
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

std::set<LocationId> report_guards(const NodeRecord& node, Logger& log) {
  std::set<LocationId> told;
  for (const auto& [place, count] : node.guard_counts) {
    const std::string name = question_text(count);
    const std::string round = round_text(place);
    log.info(fmt::format("{}branch of node '{}', {}{}: {} times yes, {} times no", line_prefix(place.location),
                         node.name, name, round, count.yes, count.no));
    if ((count.rows && !count.asked) || (count.yes > 0 && count.no > 0) || told.contains(place.location)) continue;
    if (!is_decided(node, place.location)) continue;
    told.insert(place.location);
    const std::size_t times = count.yes + count.no;
    const char* other = count.yes > 0 ? "false" : "true";
    log.warning(
        fmt::format("{}node '{}' branches on a {} here: {} was {} in {}{}, never {}. It is exported that "
                    "way; run a pass in which it is {} to have both sides in the model",
                    line_prefix(place.location), node.name, count.rows ? "number of rows" : "value", name,
                    count.yes > 0 ? "true" : "false", times == 1 ? "the only case" : fmt::format("all {} cases", times),
                    round, other, other));
  }
  std::size_t lost = 0;
  for (const auto& [hash, times] : node.not_kept) lost += times;
  if (lost == 0) return told;
  log.warning(
      fmt::format("node '{}' took more than {} paths; {} calls went ways that are not in the model (those taken "
                  "most often are). Branches on data:{}",
                  node.name, node.others.size() + 1, lost, [&] {
                    std::string lines;
                    for (const auto& [place, count] : node.guard_counts) {
                      if (place.round == 0 && count.yes > 0 && count.no > 0) lines += at_line(place.location);
                    }
                    return lines;
                  }()));
  return told;
}

std::string guard_text(const ConditionPlace& place, const ConditionCount& count) {
  return fmt::format("{}branches on data, {}{}: {} times yes, {} times no", line_prefix(place.location),
                     question_text(count), round_text(place), count.yes, count.no);
}

}  // namespace leapp::capture
