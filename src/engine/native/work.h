// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/native/plan.h"

namespace leapp::native {

/// How much there is to do in the calls of a block, inner blocks once: elements that are read or written, and products.
/// A billion of them take about a second.
[[nodiscard]] double work_of(const Plan& plan, const Block& block);

}  // namespace leapp::native
