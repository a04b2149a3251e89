// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a plan faster without changing what it computes. Each pass takes a plan whose values have no places yet
// and leaves one of the same form; it says whether it changed anything.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/native/plan.h"

namespace leapp::native {

/// Calls whose results nobody reads are left out.
bool remove_unused(Plan& plan);

/// A bias or a function that follows a product of matrices or a convolution becomes part of it.
bool fuse_epilogues(Plan& plan);

/// Elementwise calls whose result only another one reads become one call: what flows between them stays in registers.
bool fuse_elementwise(Plan& plan);

/// All of them, in the order that suits.
void optimise(Plan& plan);

/// How often each value is read, by the value whose memory it is in. Loops read what they carry.
[[nodiscard]] std::vector<std::size_t> count_reads(const Plan& plan);

/// Leaves out the calls that are marked; one by one that would move all that follow.
void drop_calls(Block& block, const std::vector<bool>& gone);

}  // namespace leapp::native
