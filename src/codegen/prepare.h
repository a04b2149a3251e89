// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/native/plan.h"
#include "leapp/base/status.h"

namespace leapp::codegen {

/// Makes an optimised plan one that can be read: weights as they are in the model, a matrix as [columns][rows] (one row
/// for each number that a layer makes), no memory that only vector kernels need, and for each type of element an arena
/// of its own. Gives every value its place.
Status prepare(native::Plan& plan);

}  // namespace leapp::codegen
