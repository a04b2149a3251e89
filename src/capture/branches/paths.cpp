// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/paths.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "capture/state/constant_outputs.h"
#include "capture/trace/lengths.h"

namespace leapp::capture {
namespace {

void count_guards(NodeRecord& record, const std::vector<BranchCondition>& guards) {
  std::map<std::pair<LocationId, bool>, std::size_t> rounds;
  for (const BranchCondition& guard : guards) {
    const bool unasked = guard.rows && !guard.asked;
    const std::size_t round = rounds[{guard.location(), unasked}]++;
    ConditionCount& counted = record.guard_counts[{guard.location(), round, unasked}];
    counted.op = guard.op->info;
    counted.rows = guard.rows;
    counted.asked = guard.asked;
    ++(guard.taken ? counted.yes : counted.no);
  }
}

std::uint64_t hash_of_answers(const std::vector<BranchCondition>& guards) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const BranchCondition& guard : guards) {
    if (guard.rows) continue;
    hash = (hash ^ (guard.location() * 2U + (guard.taken ? 1U : 0U))) * 0x100000001b3ULL;
    hash ^= hash >> 29U;
  }
  return hash;
}

/// Whether what the program was told was the same. `rows`: and what it could see of lengths, too.
bool same_answers(const std::vector<BranchCondition>& a, const std::vector<BranchCondition>& b, bool rows) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const BranchCondition& first, const BranchCondition& second) {
                      if (!same_question(first, second)) return false;
                      return first.taken == second.taken || (first.rows && (first.either || !rows));
                    });
}

/// Whether two calls ran the same operators on the same things, whatever the numbers and lengths.
class SameProgram {
 public:
  bool operator()(const NodeRecord& path, const CallTrace& call) {
    if (path.ends.size() != call.ends.size()) return false;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) match(path.output_values[i], call.outputs[i]);
    for (std::size_t i = 0; i < call.guards.size(); ++i) match(path.guards[i].value, call.guards[i].value);
    for (std::size_t i = 0; i < call.ends.size(); ++i) {
      same_ = same_ && path.ends[i].memory == call.ends[i].memory;
      match(path.ends[i].value, call.ends[i].value);
    }
    while (same_ && !pending_.empty()) {
      const auto [first, now] = pending_.back();
      pending_.pop_back();
      match_operands(*first, *now);
    }
    return same_;
  }

 private:
  void match(const ValuePtr& first, const ValuePtr& now) {
    const ValuePtr& a = bare(first);
    const ValuePtr& b = bare(now);
    if (is_constant(*a) && is_constant(*b)) return;
    same_ = same_ && a->kind == b->kind && a->index == b->index;
    if (!same_ || a->kind != TracedKind::kResult) return;
    same_ = a->op->info == b->op->info;
    if (seen_.emplace(a->op.get(), b->op.get()).second) pending_.emplace_back(a->op.get(), b->op.get());
  }

  void match_operands(const TraceOp& first, const TraceOp& now) {
    std::vector<ValuePtr> others;
    for_each_operand(now, [&](const ValuePtr& value) { others.push_back(value); });
    std::size_t at = 0;
    for_each_operand(first, [&](const ValuePtr& value) {
      const auto rows = at < others.size() ? with_their_rows(first, value, others[at]) : std::nullopt;
      if (at < others.size()) rows ? match(rows->first, rows->second) : match(value, others[at]);
      ++at;
    });
    same_ = same_ && at == others.size();
  }

  bool same_ = true;
  std::set<std::pair<const TraceOp*, const TraceOp*>> seen_;
  std::vector<std::pair<const TraceOp*, const TraceOp*>> pending_;
};

NodeRecord* known_path(NodeRecord& record, const CallTrace& call) {
  std::vector<NodeRecord*> paths{&record};
  for (const auto& other : record.others) paths.push_back(other.get());
  for (NodeRecord* path : paths) {
    if (same_answers(path->guards, call.guards, true)) return path;
  }
  for (NodeRecord* path : paths) {
    if (!same_answers(path->guards, call.guards, false) || !SameProgram()(*path, call)) continue;
    for (std::size_t i = 0; i < call.guards.size(); ++i) {
      BranchCondition& guard = path->guards[i];
      guard.either = guard.either || guard.taken != call.guards[i].taken;
    }
    return path;
  }
  return nullptr;
}

/// Room for one more, if need be in the place of one that is taken less often. Null: there is none.
std::unique_ptr<NodeRecord>* slot_for(NodeRecord& record, std::uint64_t hash) {
  if (record.others.size() < kMaxPaths) return &record.others.emplace_back();
  const auto rarest = std::min_element(record.others.begin(), record.others.end(),
                                       [](const auto& a, const auto& b) { return a->taken.size() < b->taken.size(); });
  if (record.not_kept[hash] <= (*rarest)->taken.size()) return nullptr;
  record.not_kept[hash_of_answers((*rarest)->guards)] += (*rarest)->taken.size();
  record.not_kept.erase(hash);
  // Paths stand in the order of their first calls.
  record.others.erase(rarest);
  return &record.others.emplace_back();
}

void begin_path(NodeRecord& record, const CallTrace& call) {
  record.guards = call.guards;
  record.ends = call.ends;
  record.first_call = call.call;
  record.taken.emplace_back(call.call, call.pass);
  if (call.guards.empty()) record.variants.calls.emplace_back(call.call, call.pass);
}

}  // namespace

TakenPath take_path(NodeRecord& record, const CallTrace& call) {
  count_guards(record, call.guards);
  if (call.call == 0) {
    begin_path(record, call);
    return {&record, true};
  }
  if (NodeRecord* known = known_path(record, call)) {
    if (!call.guards.empty()) known->taken.emplace_back(call.call, call.pass);
    if (call.guards.empty()) known->variants.calls.emplace_back(call.call, call.pass);
    return {known, false};
  }
  const std::uint64_t hash = hash_of_answers(call.guards);
  ++record.not_kept[hash];
  std::unique_ptr<NodeRecord>* slot = slot_for(record, hash);
  if (!slot) return {};
  record.not_kept.erase(hash);
  *slot = std::make_unique<NodeRecord>();
  NodeRecord& path = **slot;
  path.name = record.name;
  path.inputs = record.inputs;
  path.outputs = record.outputs;
  path.output_values = call.outputs;
  begin_path(path, call);
  return {&path, true};
}

NodeRecord* find_path(NodeRecord& record, std::size_t first_call) {
  if (record.first_call == first_call) return &record;
  const auto found = std::find_if(record.others.begin(), record.others.end(),
                                  [&](const auto& other) { return other->first_call == first_call; });
  return found == record.others.end() ? nullptr : found->get();
}

}  // namespace leapp::capture
