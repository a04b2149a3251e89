// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/native/plan.h"

namespace leapp::codegen {

/// Whether there is data for which a call, or one inside of it, has no result. Indices and divisors that are known and
/// good are no such data.
[[nodiscard]] bool may_fail(const native::Plan& plan, const native::Block& block);

}  // namespace leapp::codegen
