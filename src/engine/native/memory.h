// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "engine/native/plan.h"
#include "leapp/base/status.h"

namespace leapp::native {

/// More memory than this is not meant seriously: as for a pipeline's buffers.
inline constexpr std::size_t kLargestMemory = std::size_t{1} << 34U;
/// As vectors want it.
inline constexpr std::size_t kAlignment = 64;

/// Gives every value that a call uses its place. Values whose lives do not overlap share memory; a result takes the
/// memory of an operand where its kernel allows that. An error when more than kLargestMemory would be needed.
///
/// Elements of all types share one arena, aligned as vectors want it; or each type has one of its own
/// (PlannedAddress::port is then the DType, and offsets are multiples of its size), so that memory never changes its
/// type: the source form.
enum class Arenas { kOne, kByType };
Status plan_memory(Plan& plan, Arenas arenas = Arenas::kOne);

}  // namespace leapp::native
