// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/phase_state.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "capture/trace/slice.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {

std::string phase_text(const NodeRecord& node, const Schedule& turn) {
  const LocationId line = node.divergences.empty() ? 0 : node.divergences.front().location;
  const std::string begin = turn.warm_up == 0   ? "the same"
                            : turn.warm_up == 1 ? "after the first one the same"
                                                : fmt::format("after the first {} the same", turn.warm_up);
  return fmt::format(
      "{}node '{}' goes other ways from call to call, and no value decides it: the program counts by itself. Its {} "
      "calls did {} {}",
      line_prefix(line), node.name, node.calls, begin,
      turn.period == 1 ? "each time" : fmt::format("every {} calls", turn.period));
}

std::string phase_remedy() {
  return (
      "if it does anything else (when it is reset, or after more calls), keep what it counts in an integer tensor "
      "that decides (`if self.place == 0`), which the model then does, too");
}

void add_phase(NodeRecord& node, const PhasePaths& phases, TraceBuilder& builder, ConstantEvaluator& evaluator) {
  const auto content = [&](std::size_t call) {
    const auto phase = static_cast<std::int64_t>(phases.schedule().phase_of(call));
    return evaluator.value_of(builder.full({}, phase, at::kLong));
  };
  Leak leak;
  leak.source = {node.name, "", mix_hash(node.calls, phases.schedule().count()), 1};
  leak.type = {at::kLong, {}};
  leak.name = "phase";
  leak.declared = true;
  leak.update = phases.next(builder);
  std::vector<ValuePtr> roots = node.output_values;
  for (const Leak& other : node.leaks) {
    if (other.update) roots.push_back(other.update);
  }
  roots.push_back(leak.update);
  for (const TraceOp* op : slice_of(roots).ops) {
    std::size_t operand = 0;
    for_each_operand(*op, [&](const ValuePtr& value) {
      if (phases.is_phase(value)) leak.uses.emplace(Use{const_cast<TraceOp*>(op), operand}, Geometry());
      ++operand;
    });
  }
  for (const Sample& sample : node.samples) {
    leak.read[sample.call] = content(sample.call);
    leak.next[sample.call] = content(sample.call + 1);
  }
  leak.read.try_emplace(0, content(0));
  node.leaks.push_back(std::move(leak));
}

}  // namespace leapp::capture
