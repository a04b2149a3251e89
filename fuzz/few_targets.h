// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Included before each source of leapp_sanitized: kernels in two versions instead of four, the baseline and AVX2, in
// half of the compiler's time. Here and not in dispatch.h, which need not know of it.
#pragma once

#include "engine/native/kernels/dispatch.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef LEAPP_KERNEL_TABLE
#define LEAPP_KERNEL_TABLE(FUNCTION)                                                           \
  static constexpr decltype(&HWY_STATIC_DISPATCH(FUNCTION)) FUNCTION##_versions[] = {          \
      HWY_CHOOSE_FALLBACK(FUNCTION), HWY_CHOOSE_FALLBACK(FUNCTION), HWY_CHOOSE_AVX2(FUNCTION), \
      HWY_CHOOSE_AVX2(FUNCTION)}
