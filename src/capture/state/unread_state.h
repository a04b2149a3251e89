// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a node leaves behind and no later call has had the chance to read.
//
// State that is reassigned shows when a call reads what an earlier one made (leaks.h). With too few passes it never
// does: an attribute that one call sets and the next would read, a history of eight after three passes. The models are
// then right for what was recorded, and wrong from the next step on. So: whatever a node made in its first call and
// someone still has when the session ends may be state that nobody has seen at work. Numbers and flags outside torch
// leave no tensor; a front end that can tell that some changed says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "capture/session/front_end.h"
#include "capture/trace/value_type.h"

namespace leapp::capture {

struct NodeRecord;

/// A tensor that a node made and that someone still has when the session ends.
struct KeptTensor {
  std::string node;
  std::string port;        ///< of a published output; empty: not published
  std::uint64_t pass = 0;  ///< in which it was made
  std::uint64_t key = 0;   ///< which value of the node it is; not of published ones
  const void* memory = nullptr;
  ValueType type;
};

/// Who holds the tensors at these positions.
using FindHolders = std::function<std::vector<Holder>(const std::vector<std::size_t>& positions)>;

/// Values of the program's language (numbers, flags, lists of them) that changed since a node's first call began.
struct ChangedValues {
  std::string node;
  std::string where;  ///< the user's line
  std::string what;   ///< their names
};

/// Warns about changed values of nodes that were called once, as no second call could show whether they matter, and
/// notes in the log which nodes these are.
void report_changed_values(const std::vector<std::unique_ptr<NodeRecord>>& nodes,
                           const std::vector<ChangedValues>& changes, Logger& log);

/// Warns, once a node, about tensors that may be state which no call has read yet. REQUIRES: leaks have been promoted.
void report_unread_state(const std::vector<std::unique_ptr<NodeRecord>>& nodes, const std::vector<KeptTensor>& kept,
                         const FindHolders& find_holders, Logger& log);

}  // namespace leapp::capture
