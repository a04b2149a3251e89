// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of arrays that the kernels share: each is compiled once per instruction set, in one file.
#pragma once

#include <cstddef>

#include "engine/native/kernels/kernels.h"

namespace leapp::native::kernels {

/// y[i] = function(x[i]); y may be x.
void apply_unary(const Activation& function, const float* x, float* y, std::size_t n) noexcept;

/// y[i] = function(a[i], b[i]); y may be a or b.
void apply_binary(Binary function, const float* a, const float* b, float* y, std::size_t n) noexcept;

/// y[i] = a[i] != 0 ? b[i] : c[i]; y may be one of them.
void apply_where(const float* a, const float* b, const float* c, float* y, std::size_t n) noexcept;

/// float32 from and to `storage`. A bool is 0 or 1; whatever is not 0 is written as 1.
void load_as_float(const void* from, Storage storage, float* to, std::size_t n) noexcept;
void store_as(const float* from, Storage storage, void* to, std::size_t n) noexcept;

}  // namespace leapp::native::kernels
