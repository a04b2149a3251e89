// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/branches/state_slots.h"

namespace leapp::capture {

/// Whether a first step can only take ways that set `slot` before anything reads it, so that it does not matter what it
/// begins with. REQUIRES: the paths have not been joined.
[[nodiscard]] bool is_set_first(const StateSlot& slot, const std::vector<StateSlot>& slots,
                                const std::vector<NodeRecord*>& paths);

/// What is said of state when no call shows what was in it at the beginning: who reads it first when the model runs may
/// not be who read it first here.
[[nodiscard]] std::string unknown_beginning_text(const std::string& node, const Leak& leak);

}  // namespace leapp::capture
