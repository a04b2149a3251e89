// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "capture/trace/trace.h"

namespace leapp::capture {

/// Names values by how they were computed: the operators, their numbers, the ports and the parameters of modules at the
/// bottom, but not what other constants are. So a value has the same key in every call of a node that runs the same
/// program.
class ValueKeys {
 public:
  std::uint64_t of(const ValuePtr& value);

 private:
  std::uint64_t of_leaf(const TracedValue& value) const;
  std::uint64_t of_op(const TraceOp& op);
  bool known(const TracedValue& value) const;
  /// No state, which other constants may turn out to be.
  bool is_parameter(const TracedValue& value) const;

  std::unordered_map<const TraceOp*, std::uint64_t> ops_;
  std::unordered_set<const TraceOp*> of_parameters_;   // made of nothing live, but of a parameter
  std::unordered_set<const TraceOp*> of_data_length_;  // sizes in them may differ from call to call
};

/// One hash of two.
std::uint64_t mix_hash(std::uint64_t seed, std::uint64_t value);

/// Equal numbers give equal hashes; kinds of values that no comparison needs to tell apart may share one.
std::uint64_t hash_attribute(const c10::IValue& value);

/// Whether two arguments of an operator are the same number, list, text, ...
bool same_attribute(const c10::IValue& a, const c10::IValue& b);

/// "0.5", "[1, 2]", "None"
std::string attribute_text(const c10::IValue& value);

}  // namespace leapp::capture
