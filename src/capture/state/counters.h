// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors that the program counts up outside of all nodes: an episode's length, a clock, a phase.
#pragma once

#include "capture/trace/record.h"

namespace leapp::capture {

/// Tells of constants that differ from call to call whether they grow by the same amount in each (Divergence::step).
/// REQUIRES: all calls have been recorded.
void find_counters(NodeRecord& node);

}  // namespace leapp::capture
