// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which way the calls of a node went. Calls whose guards had the same answers took the same path: the first of them is
// kept as a trace, the others are compared with it (reentry.h).
#pragma once

#include <cstddef>

#include "capture/state/leaks.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// A node has at most so many paths beside its first call's.
inline constexpr std::size_t kMaxPaths = 63;

struct TakenPath {
  NodeRecord* path = nullptr;  ///< null: there are too many, and others are taken more often
  bool first = false;          ///< `call` is the first that took it
};

/// Counts the guards of `call` and finds the path it took, among those of `record` or a new one. A new one has all that
/// the call says of it but what StateAnalysis finds out. The first call of a node begins the first, which is `record`.
TakenPath take_path(NodeRecord& record, const CallTrace& call);

/// The path of `record` that began with that call; null: it has been given up.
NodeRecord* find_path(NodeRecord& record, std::size_t first_call);

}  // namespace leapp::capture
