// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that a call draws from nothing live: a draw of the model, or numbers that are always the same.
//
// While calls are recorded such a draw is an operator, and has the numbers it gave. What later calls do decides: who
// draws anew at the same place draws in every call; who reads the same numbers again, or sets the generator to the same
// state before it draws, has a constant. The only call of a node cannot tell: a constant, with a warning.
#pragma once

#include <vector>

#include "capture/trace/record.h"

namespace leapp::capture {

/// Whether a later call drew other numbers for any that go into `value`.
[[nodiscard]] bool is_drawn_anew(const ValuePtr& value);

/// What goes into `values` and was drawn for another call than `call`: these numbers from now on, in both.
[[nodiscard]] std::vector<const TraceOp*> keep_draws_of_others(const std::vector<ValuePtr>& values, ActivationId call);

/// A later call reads `value` of the first one again: what was drawn for it are these numbers from now on.
void note_kept(const ValuePtr& value);

/// `now` of a later call stands where `first` did. False: numbers that an earlier call read again are drawn anew.
[[nodiscard]] bool note_draw(TraceOp& first, const TraceOp& now);

/// Puts constants in the place of what is drawn once. REQUIRES: all calls have been recorded, nothing is promoted yet.
void settle_draws(NodeRecord& node);

}  // namespace leapp::capture
