// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What each path leaves in a state that is kept by giving an attribute another tensor: learnt from the calls after it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "capture/branches/path_reads.h"
#include "capture/branches/slot_groups.h"
#include "capture/branches/state_slots.h"
#include "capture/trace/evaluate.h"

namespace leapp::capture {

/// What is known of a slot before its values are.
struct SlotEvidence {
  const SlotGroup& group;
  std::vector<FormerRead>& formers;          ///< more are found
  const std::vector<Leak::Seen>& aligned;    ///< what first calls found there, that no node had computed
  std::function<bool(const Use&)> is_taken;  ///< by another slot
  /// Whether calls after that path set it before any reads it. `sets`: which paths do.
  std::function<bool(std::size_t, const std::vector<bool>&)> is_set_after;
};

/// Fills slot.next, and what it takes to read it; else says which path cannot be joined.
std::optional<UnmergeablePath> find_next_values(const PathHistory& history, const SlotEvidence& evidence,
                                                ConstantEvaluator& evaluator, StateSlot& slot);

}  // namespace leapp::capture
