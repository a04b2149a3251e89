// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/state/leaks.h"
#include "capture/trace/lengths.h"

namespace leapp::capture {

/// Compares a later call with the first, operator by operator from the outputs down. What the later call reads from an
/// earlier one or from another node becomes a leak of the record.
class CallComparison {
 public:
  /// With `call` of the node, made in `pass`.
  CallComparison(NodeRecord& record, std::size_t call, std::uint64_t pass, ConstantEvaluator& evaluator)
      : record_(record), call_(call), pass_(pass), evaluator_(evaluator) {}

  /// `first` and `now` must be the same: an output, or the next value of state.
  void compare(const std::string& what, const ValuePtr& first, const ValuePtr& now);

  /// What decides which way to go must be the same, too; but it matters only where the program went both.
  void compare_guard(const BranchCondition& first, const BranchCondition& now);

  /// What a call keeps for others: whether it differs is of no interest, only what it is made of.
  void compare_kept(const ValuePtr& first, const ValuePtr& now);

  /// What the later call read where the first one had a constant that may be state.
  [[nodiscard]] const std::map<Use, ValuePtr>& reads() const { return reads_; }

  /// The first that was found, in the order of the program; none: the calls agree.
  [[nodiscard]] std::vector<Divergence> take();

 private:
  void match(const Use& use, const ValuePtr& first, const ValuePtr& now);
  void match_ops(TraceOp& first, TraceOp& now);
  bool same_form(const TraceOp& first, const TraceOp& now);
  void match_constants(const Use& use, const ValuePtr& first, const ValuePtr& now);
  void note_leak(const Use& use, const ValuePtr& first, const ValuePtr& now);
  void note_seen(Leak& leak, const LeakSource& source, const ValuePtr& now, bool elsewhere) const;
  /// What calls find in state is told by all ways together.
  [[nodiscard]] bool follows_ways() const { return !record_.guards.empty() || record_.is_variant; }
  bool is_memory_of(const Leak& leak, const ConstantCell& cell) const;
  bool is_kept(const ValuePtr& first, const ConstantCell& cell);
  bool is_read_in_place(const ValuePtr& first, const ConstantCell& cell) const;
  Leak* leak_at(const Use& use);
  Divergence& diverge(const Use& use, std::uint64_t order, const std::string& text);
  void diverge_at(const Use& use, const ValuePtr& first, const ValuePtr& now);

  NodeRecord& record_;
  std::size_t call_;
  std::uint64_t pass_;
  ConstantEvaluator& evaluator_;
  std::unordered_map<const TraceOp*, const TraceOp*> paired_;
  std::vector<std::pair<TraceOp*, TraceOp*>> pending_;
  std::map<Use, ValuePtr> reads_;
  std::vector<Divergence> found_;
  FollowedLengths lengths_;
  bool guards_ = false;  // what is compared now decides, and is no output
};

}  // namespace leapp::capture
