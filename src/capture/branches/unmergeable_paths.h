// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths of a node that cannot be joined with the others although their state is known.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "capture/branches/decision_tree.h"
#include "capture/branches/state_slots.h"

namespace leapp::capture {

/// State that the user wants to be a constant cannot be what one path leaves and another finds.
[[nodiscard]] std::optional<UnmergeablePath> find_baked(const std::vector<StateSlot>& slots, std::size_t paths,
                                                        Leaks policy);

/// A guard on something that is neither an input nor state: a clock, a file, what the program counts elsewhere.
[[nodiscard]] std::optional<UnmergeablePath> find_undecided(const DecisionTree& tree,
                                                            const std::vector<StateSlot>& slots,
                                                            const std::vector<NodeRecord*>& paths);

/// A path that leaves a tensor of another type in a state.
[[nodiscard]] std::optional<UnmergeablePath> find_other_types(const std::vector<StateSlot>& slots);

}  // namespace leapp::capture
