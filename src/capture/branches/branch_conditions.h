// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a program decides by data which way to go.
//
// An operator that hands a truth to the program (is_nonzero, item, equal, allclose) is a guard: what comes after it is
// one path of several. So is one whose result has as many rows as the data says (nonzero, x[mask]): the program may go
// another way when there are none. Where it asks for their number (`if len(ids) > 2`), that question is a guard, too.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "capture/trace/trace.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

struct BranchCondition {
  std::shared_ptr<TraceOp> op;  ///< with its operands; its result is no tensor, unless `rows`
  bool rows = false;            ///< about the number of rows: it decides only if the program did something else
  bool asked = false;           ///< rows: the program asked, and the operator answered; else: whether there are any
  bool taken = false;           ///< what it was
  bool either = false;          ///< rows: both were seen, and the program did the same
  ValuePtr value = nullptr;     ///< a 0-d bool, set apart (constant_outputs.h): what decided. Known when the call ends
  bool phase = false;           ///< asks for the phase of the calls (phase_paths.h): no line of the program does

  [[nodiscard]] LocationId location() const { return op->location; }
};

/// The same decision of the program, whatever came of it.
[[nodiscard]] bool same_question(const BranchCondition& a, const BranchCondition& b);

/// Whether an operator that gives a bool is one whose answer can be computed in the model. REQUIRES: it gave one.
[[nodiscard]] bool is_decision(const TraceOp& op);

/// Whether it is known what decides if the result of an operator of data-dependent length has rows.
[[nodiscard]] bool gives_rows(const TraceOp& op);

/// What decided, computed: a 0-d bool.
[[nodiscard]] ValuePtr predicate(const BranchCondition& guard, TraceBuilder& builder);

/// The guards of the calls that are open. Guarded by the recorder's lock.
class ConditionLog {
 public:
  void add(ActivationId activation, BranchCondition guard);
  void close(ActivationId activation) { open_.erase(activation); }
  /// Those of a call that is about to close.
  [[nodiscard]] std::vector<BranchCondition> take(ActivationId activation);

  /// More than this in one call are not followed.
  static constexpr std::size_t kMost = 1024;

 private:
  std::map<ActivationId, std::vector<BranchCondition>> open_;
};

}  // namespace leapp::capture
