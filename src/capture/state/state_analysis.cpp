// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/state_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/branches/merge_paths.h"
#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"
#include "capture/state/counters.h"
#include "capture/state/draws.h"
#include "capture/state/promote.h"
#include "capture/state/reentry.h"

namespace leapp::capture {
namespace {

constexpr std::size_t kMaxDivergences = 8;

/// What the later call read where the first one had a constant, for leaks that were not known when it ran.
void note_reads(NodeRecord& record, const LaterCall& later, const CallComparison& comparison,
                ConstantEvaluator& evaluator) {
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    Leak& leak = record.leaks[i];
    if (i < later.reads.size() && later.reads[i]) leak.read[later.call] = later.reads[i];
    for (const auto& [use, where] : leak.uses) {
      const auto read = comparison.reads().find(use);
      if (read == comparison.reads().end() || leak.read.contains(later.call)) continue;
      if (!leak.memory || where == leak.place) leak.read[later.call] = evaluator.value_of(read->second);
    }
  }
}

/// What is kept may be state of another path, which then tells what this one reads for it.
void compare_kept(CallComparison& comparison, NodeRecord& record, const Survivors& survivors) {
  for (const auto& [key, first] : record.survivors) {
    const auto now = survivors.find(key);
    if (now == survivors.end()) {
      record.made_once.insert(key);
    } else {
      comparison.compare_kept(first, now->second);
    }
  }
}

void keep_draws(const NodeRecord& record, ActivationId call, Logger& log) {
  for (const TraceOp* op : keep_draws_of_others(record.output_values, call)) {
    log.warning(
        fmt::format("node '{}' uses random numbers that {}{} drew in another node. They are exported as a constant; "
                    "announce them with input_tensors",
                    record.name, op->info->qualified_name(), at_line(op->location)));
  }
}

/// What the first call keeps, or writes, and this one does not.
bool leaves_something_else(const NodeRecord& record, const LaterCall& later, const Survivors& survivors) {
  for (std::size_t i = 0; i < later.updates.size(); ++i) {
    if (!later.updates[i] != !record.leaks[i].update) return true;
  }
  return std::any_of(record.survivors.begin(), record.survivors.end(),
                     [&](const auto& kept) { return !survivors.contains(kept.first); });
}

}  // namespace

const BufferTrace* buffer_of(const Leak& leak, const std::vector<BufferTrace>& buffers) {
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const BufferTrace& buffer) {
    return leak.declared ? buffer.declared && buffer.name == leak.name
                         : leak.memory && buffer.memory == leak.memory && buffer.geometry == leak.place;
  });
  return found == buffers.end() ? nullptr : &*found;
}

void StateAnalysis::first_call(NodeRecord& record, const CallTrace& call, TraceBuilder& builder) {
  LeakFinder finder(call, builder, evaluator_);
  finder.search(record.output_values);
  if (!call.guards.empty()) finder.search(call.guards);
  for (const auto& [value, location] : call.numbers) {
    if (!finder.depends_on_state(value)) continue;
    log_.warning(
        fmt::format("{}a number is read from a tensor that node '{}' changes. It is baked in as it was in the first "
                    "call; keep it a tensor to have it change",
                    line_prefix(location), record.name));
  }
  if (finder.any_random()) keep_draws(record, call.activation, log_);
  record.leaks = finder.take();
}

LaterCall StateAnalysis::look_at(const NodeRecord& record, const CallTrace& call, TraceBuilder& builder) {
  LaterCall later{.call = call.call, .pass = call.pass, .outputs = call.outputs, .guards = call.guards};
  for (const Leak& leak : record.leaks) {
    const BufferTrace* buffer = buffer_of(leak, call.buffers);
    later.updates.push_back(buffer          ? end_value(*buffer, call.activation, builder)
                            : leak.in_place ? end_value(*leak.memory, leak.place, call.activation, builder)
                                            : nullptr);
    later.reads.push_back(buffer ? buffer->content : leak.in_place ? leak.memory->content_before(leak.place) : nullptr);
  }
  return later;
}

void StateAnalysis::look_at_memory(NodeRecord& node, const NodeRecord* taken, std::size_t call) {
  const auto look_at = [&](NodeRecord& path) {
    for (MemoryEnd& end : path.ends) end.read.try_emplace(call, end.memory->content_before(end.place));
    if (&path == taken) return;
    for (Leak& leak : path.leaks) {
      if (leak.in_place) leak.read.try_emplace(call, leak.memory->content_before(leak.place));
    }
  };
  const auto look_at_ways = [&](NodeRecord& path) {
    look_at(path);
    for (const auto& way : path.variants.variants) look_at(*way);
  };
  look_at_ways(node);
  for (const auto& other : node.others) look_at_ways(*other);
}

Compared StateAnalysis::compare(NodeRecord& record, const LaterCall& later, const Survivors& survivors,
                                bool keeps_sample) {
  CallComparison comparison(record, later.call, later.pass, evaluator_);
  for (std::size_t i = 0; i < later.outputs.size(); ++i) {
    comparison.compare(fmt::format("output '{}' of node '{}'", record.outputs[i].name, record.name),
                       record.output_values[i], later.outputs[i]);
  }
  // Comparing may find more of them.
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    const LeakSource source = record.leaks[i].source;
    const bool own = source.node == record.name && source.port.empty();
    const auto first = record.survivors.find(source.key);
    const auto now = survivors.find(source.key);
    const bool known = i < later.updates.size() && later.updates[i] && record.leaks[i].update;
    if (i < later.updates.size()) prepared_.look_at(record.leaks[i], later.updates[i]);
    const std::string what = fmt::format("state '{}' of node '{}'", record.leaks[i].name, record.name);
    if (known) {
      comparison.compare(what, record.leaks[i].update, later.updates[i]);
    } else if (own && first != record.survivors.end() && now != survivors.end()) {
      comparison.compare(what, first->second, now->second);
    }
  }
  for (std::size_t i = 0; i < later.guards.size(); ++i) comparison.compare_guard(record.guards[i], later.guards[i]);
  if (!record.guards.empty() || record.is_variant) compare_kept(comparison, record, survivors);
  std::vector<Divergence> found = comparison.take();
  // Whether what differs matters is for the numbers to say.
  const bool keeps = keeps_sample || !found.empty();
  if (keeps) note_reads(record, later, comparison, evaluator_);
  for (Divergence& divergence : found) {
    if (record.divergences.size() < kMaxDivergences) record.divergences.push_back(std::move(divergence));
  }
  return {keeps, !found.empty(), leaves_something_else(record, later, survivors)};
}

UnguardedVariant StateAnalysis::begin_way(const TakenPath& taken, CallTrace& call, TraceBuilder& builder,
                                          const std::function<std::vector<MemoryEnd>()>& ends) {
  if (!taken.path) return {};
  const bool may_begin = taken.first || !taken.path->variants.by_signature.contains(call.signature);
  if (may_begin && call.guards.empty() && !taken.path->variants.given_up) {
    call.ends = ends();
    if (taken.first) taken.path->ends = call.ends;
  }
  const UnguardedVariant way = take_way(*taken.path, call, taken.first);
  if (!way.is_new) return way;
  CallTrace first = call;
  first.is_variant = true;
  LeakFinder finder(first, builder, evaluator_);
  finder.search(way.way->output_values);
  finder.search(first.guards);
  way.way->leaks = finder.take();
  return way;
}

void StateAnalysis::compare_way(NodeRecord& path, const UnguardedVariant& taken, const WayCall& call) {
  path.variants.diverged = path.variants.diverged || call.compared.differs;
  if (!taken.way) return;
  if (!taken.is_new) {
    // Until calls differ, the path knows all there is to know.
    if (path.variants.diverged) compare(*taken.way, call.later, call.survivors, call.compared.keeps);
    return;
  }
  taken.way->survivors = call.survivors;
  settle_way(path, taken, call.call, call.compared.differs || call.compared.leaves);
}

void StateAnalysis::finish(const std::vector<std::unique_ptr<NodeRecord>>& nodes, const StartOptions& options,
                           const SessionEnd& end) {
  for (const auto& node : nodes) {
    prepared_.forget_leaks_of(*node);
    settle_draws(*node);
  }
  merge_paths(nodes, options.leaks, evaluator_, log_);
  promote_leaks(nodes, options.leaks, evaluator_, log_);
  settle_constant_outputs(nodes, options, log_);
  for (const auto& node : nodes) find_counters(*node);
  if (options.leaks == Leaks::kConstant) return;
  report_unread_state(nodes, end.kept, end.find_holders, log_);
  report_changed_values(nodes, end.changed, log_);
}

}  // namespace leapp::capture
