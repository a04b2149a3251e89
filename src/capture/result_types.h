// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "capture/trace.h"

namespace leapp::capture {

/// The dtypes of an operator's results, asked of torch itself with tensors that have no memory; remembered by the
/// dtypes of the operands. nullopt: torch cannot tell without data. Called with the session's lock held.
std::optional<std::vector<at::ScalarType>> result_dtypes(const TraceOp& op);

}  // namespace leapp::capture
