// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace leapp::capture {

Slice slice_of(const std::vector<ValuePtr>& values) {
  Slice slice;
  std::unordered_set<const TraceOp*> seen;
  std::vector<const TraceOp*> pending;
  std::unordered_set<const ConstantCell*> cells;
  const auto visit = [&](const ValuePtr& value) {
    if (value->kind == TracedKind::kConstant && cells.insert(value->cell.get()).second) {
      slice.constants.push_back(value->cell);
    }
    if (value->kind == TracedKind::kResult && seen.insert(value->op.get()).second) pending.push_back(value->op.get());
  };
  for (const ValuePtr& value : values) visit(value);
  while (!pending.empty()) {
    const TraceOp* op = pending.back();
    pending.pop_back();
    slice.ops.push_back(op);
    for_each_operand(*op, visit);
  }
  std::sort(slice.ops.begin(), slice.ops.end(),
            [](const TraceOp* a, const TraceOp* b) { return a->sequence < b->sequence; });
  // The order found above follows the outputs; that of first use follows the program.
  cells.clear();
  std::vector<std::shared_ptr<ConstantCell>> ordered;
  const auto note = [&](const ValuePtr& value) {
    if (value->kind == TracedKind::kConstant && cells.insert(value->cell.get()).second) ordered.push_back(value->cell);
  };
  for (const TraceOp* op : slice.ops) for_each_operand(*op, note);
  for (const ValuePtr& value : values) note(value);
  slice.constants = std::move(ordered);
  return slice;
}

void report_constants(const std::string& node, const Slice& slice, Logger& log) {
  for (const auto& cell : slice.constants) {
    const std::string where = line_prefix(cell->location);
    const TracedKind kind = cell->provenance ? cell->provenance->kind : TracedKind::kConstant;
    const Origin* from = cell->provenance ? cell->provenance->origin.get() : nullptr;
    if (cell->is_random()) {
      log.warning(fmt::format(
          "{}node '{}' uses a random tensor that {}{} made from nothing of the node's inputs. "
          "It is exported as a constant{}",
          where, node, from->node, at_line(from->location),
          cell->drawn == Drawn::kOnce ? "; run two passes before leapp.stop() to have it drawn in every step" : ""));
    } else if (kind == TracedKind::kGlue) {
      log.warning(fmt::format(
          "{}node '{}' reads what {}{} computed from {}/{} outside any node. It is exported as "
          "a constant",
          where, node, from->glue_op, at_line(from->location), from->source->origin->node, from->source->origin->port));
    } else if (cell->overwritten) {
      log.warning(
          fmt::format("{}node '{}' reads {}, which is overwritten later in the session. What it held here is "
                      "exported as a constant; make it an input and an output to have it carried from step to step",
                      where, node, cell->name.empty() ? "a tensor" : "'" + cell->name + "'"));
    }
  }
}

void seal_constants(const Slice& slice) {
  for (const auto& cell : slice.constants) cell->seal();
}

}  // namespace leapp::capture
