// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/unary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/unary_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

void unary_array(const Activation& function, const float* x, float* y, std::size_t n) { unary(function, x, y, n); }

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(unary_array);

void apply_unary(const Activation& function, const float* x, float* y, std::size_t n) noexcept {
  LEAPP_KERNEL(unary_array)(function, x, y, n);
}

}  // namespace leapp::native::kernels
#endif
