// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "capture/hook/op_info.h"

namespace leapp::capture {

/// The dtypes of the results that an operator's functional twin would give for `inputs` (the original's arguments),
/// asked of torch itself with tensors that have no memory; remembered by the dtypes of the arguments. nullopt: torch
/// cannot tell without data. Some of torch's answers are written in Python: call this without any lock of ours held.
std::optional<std::vector<at::ScalarType>> result_dtypes(const FunctionalVariant& twin,
                                                         c10::ArrayRef<const c10::IValue> inputs);

}  // namespace leapp::capture
