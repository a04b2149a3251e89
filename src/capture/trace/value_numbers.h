// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/trace/record.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// Makes one value of those that several traces compute alike: the same operator with the same numbers on the same
/// inputs, constants and states. Draws are alike when they stand at the same line, the n-th with the n-th.
class ValueNumbers {
 public:
  /// `states`: operands that stand for state, and for which. Equal texts are the same state.
  explicit ValueNumbers(std::map<Use, std::string> states) : states_(std::move(states)) {}

  /// All that `roots` depend on. Operands of what was not known before are exchanged for what is.
  void add(const std::vector<ValuePtr>& roots);

  /// The one that stands for `value`. REQUIRES: it was added.
  [[nodiscard]] ValuePtr of(const ValuePtr& value);

  /// The results of all operators that were added, also of those that nothing depends on any more.
  [[nodiscard]] std::vector<ValuePtr> results() const;

 private:
  std::uint64_t leaf(const ValuePtr& value);
  std::uint64_t number(const ValuePtr& value);
  std::uint64_t constant(const ConstantCell& cell);
  void add(TraceOp& added);
  bool alike(const TraceOp& first, const TraceOp& now) const;

  std::map<Use, std::string> states_;
  std::map<std::string, std::uint64_t> names_;  // inputs and states
  std::map<std::string, ValuePtr> inputs_;
  std::vector<std::pair<std::uint64_t, ValuePtr>> constants_;
  std::unordered_multimap<std::uint64_t, std::size_t> cells_;  // by hash: into constants_
  std::unordered_map<const ConstantCell*, std::size_t> known_cells_;
  std::unordered_map<const TraceOp*, const TraceOp*> ops_;     // what stands for it
  std::unordered_map<const TraceOp*, std::uint64_t> numbers_;  // of those that stand for others
  std::unordered_map<const TraceOp*, std::vector<std::uint64_t>> operands_;
  std::unordered_map<const TraceOp*, std::shared_ptr<TraceOp>> holders_;
  std::unordered_multimap<std::uint64_t, const TraceOp*> by_form_;
  std::map<std::pair<const OpInfo*, LocationId>, std::size_t> draws_;  // of the trace that is being added
  std::unordered_map<const TraceOp*, std::size_t> draw_of_;
  std::map<std::pair<const TraceOp*, std::uint32_t>, ValuePtr> results_;
  std::uint64_t next_ = 1;
};

}  // namespace leapp::capture
