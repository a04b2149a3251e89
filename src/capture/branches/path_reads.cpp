// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/path_reads.h"

#include <algorithm>
#include <utility>

#include "capture/state/leaks.h"
#include "capture/trace/slice.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

PathReads::PathReads(const NodeRecord& path) {
  std::map<std::pair<const OpInfo*, LocationId>, std::size_t> turns;
  for (const TraceOp* op : slice_of(roots_of(path)).ops) {
    // What was made for the program (phase_paths.h) stands for no place of it, and no call has read it.
    const bool made = op->sequence < TraceBuilder::kProgram;
    const std::size_t turn = made ? op->sequence : turns[{op->info, op->location}]++;
    std::size_t operand = 0;
    for_each_operand(*op, [&](const ValuePtr& value) {
      const Use use{const_cast<TraceOp*>(op), operand};
      if (!made && is_constant(*value) && value->kind != TracedKind::kInput) {
        reads_.push_back({use, value});
        points_.emplace(CallPoint{op->info, op->location, turn, operand}, reads_.size() - 1);
      }
      where_.emplace(use, CallPoint{op->info, op->location, turn, operand});
      ++operand;
    });
  }
}

const Read* PathReads::at(const CallPoint& point) const {
  const auto found = points_.find(point);
  return found == points_.end() ? nullptr : &reads_[found->second];
}

const CallPoint* PathReads::point_of(const Use& use) const {
  const auto found = where_.find(use);
  return found == where_.end() ? nullptr : &found->second;
}

PathHistory::PathHistory(const std::vector<NodeRecord*>& all) : paths(all) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    reads.emplace_back(*paths[i]);
    for (const auto& [call, pass] : paths[i]->taken) {
      path_in[pass] = i;
      path_of_call[call] = i;
    }
  }
}

std::optional<LeakSource> PathHistory::own_source(const Read& read, std::uint64_t pass) const {
  if (read.value->kind != TracedKind::kConstant) return std::nullopt;
  const auto source = source_of(*read.value->cell, pass);
  return source && source->node == paths[0]->name ? source : std::nullopt;
}

bool PathHistory::is_own_former(std::size_t path, const Read& read) const {
  return !paths[path]->taken.empty() && own_source(read, paths[path]->taken[0].second);
}

ValuePtr PathHistory::value_of(std::size_t path, const LeakSource& source) const {
  const NodeRecord& record = *paths[path];
  if (source.port.empty()) {
    const auto found = record.survivors.find(source.key);
    return found == record.survivors.end() ? nullptr : found->second;
  }
  for (std::size_t i = 0; i < record.outputs.size(); ++i) {
    if (record.outputs[i].name == source.port) return record.output_values[i];
  }
  return nullptr;
}

std::set<CallPoint> PathHistory::places_of(const std::map<Use, Geometry>& uses) const {
  std::set<CallPoint> places;
  for (const auto& [use, place] : uses) {
    for (const PathReads& path : reads) {
      if (const CallPoint* point = path.point_of(use)) places.insert(*point);
    }
  }
  return places;
}

std::vector<ValuePtr> roots_of(const NodeRecord& path) {
  std::vector<ValuePtr> roots = path.output_values;
  for (const BranchCondition& guard : path.guards) roots.push_back(guard.value);
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

}  // namespace leapp::capture
