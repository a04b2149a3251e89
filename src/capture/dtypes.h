// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "leapp/base/dtype.h"

namespace leapp::capture {

/// nullopt for types that have no counterpart (quantised, bits).
std::optional<DType> to_dtype(at::ScalarType type);
at::ScalarType to_scalar_type(DType dtype);

}  // namespace leapp::capture
