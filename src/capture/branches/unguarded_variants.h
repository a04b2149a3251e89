// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that no guard tells apart and that ran other operators: something that is no value decided, such as a number
// that the program counts up, or whether a queue is empty. They are kept besides what their path knows of them, for
// the order in which they come may tell (schedule.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capture/state/leaks.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// More than this many ways of one path are no ways in turn.
inline constexpr std::size_t kMaxWays = 160;

/// Which operators a call ran, with which numbers, on what: equal for calls that did the same, in whatever order.
[[nodiscard]] std::uint64_t form_of(const TraceOp& op);

/// Of all operators behind `values`, for who did not count them while they ran.
[[nodiscard]] std::uint64_t signature_of(const std::vector<ValuePtr>& values);

/// The way that a call took, from before it closes until after.
struct UnguardedVariant {
  NodeRecord* way = nullptr;  ///< null: the path's own, and no other is known
  bool is_new = false;        ///< nobody has gone it before; it is not yet known whether it is one of its own
};

/// REQUIRES: `call` took `path`, and is its first with `first`.
UnguardedVariant take_way(NodeRecord& path, const CallTrace& call, bool first);

/// After a new way has been compared with its path: it is one of its own, or just another beginning of the same.
void settle_way(NodeRecord& path, const UnguardedVariant& taken, const CallTrace& call, bool differs);

/// What a record knows, without what later calls of other ways add to it.
[[nodiscard]] std::unique_ptr<NodeRecord> copy_of_way(const NodeRecord& record);

}  // namespace leapp::capture
