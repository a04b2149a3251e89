// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The phase of the calls, as a value that the model counts itself.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "capture/branches/schedule.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

using Phases = std::set<std::size_t>;

class PhaseNumber {
 public:
  PhaseNumber();

  [[nodiscard]] const ValuePtr& value() const { return value_; }
  /// Whether it is one of `phases`: a 0-d bool, the same for the same phases. REQUIRES: there are any.
  [[nodiscard]] ValuePtr is_one_of(const Phases& phases);
  /// That of the next call.
  [[nodiscard]] ValuePtr next(const Schedule& schedule, TraceBuilder& builder) const;

  /// Of operators that come before those of the program.
  [[nodiscard]] TraceBuilder& builder() { return builder_; }

 private:
  ValuePtr value_;
  TraceBuilder builder_;
  std::map<Phases, ValuePtr> conditions_;
};

}  // namespace leapp::capture
