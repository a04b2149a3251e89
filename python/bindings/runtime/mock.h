// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "leapp/base/dtype.h"

namespace leapp::python {

/// Fills `count` elements with random values: floating-point ones of a normal distribution, the others 0 or 1, which
/// are also indices that every table has. The same generator gives the same values on every machine.
void fill_random(DType dtype, void* data, std::size_t count, std::mt19937_64& generator);

}  // namespace leapp::python
