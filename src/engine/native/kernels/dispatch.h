// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of the compiled versions of a kernel runs. Highway's own dispatch lives in a shared library that a robot would
// have to bring; this one needs its headers only. Included before <hwy/foreach_target.h>.
#pragma once

// SSSE3 machines without SSE4 are gone, and vectors of a length known at run time only cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

namespace leapp::native::kernels {

/// In the order of the tables that LEAPP_KERNEL_TABLE makes. What a machine does not know is never chosen; elsewhere
/// than on x86-64 all there is is the baseline (NEON on 64-bit ARM).
enum class Level : int { kBaseline, kSse4, kAvx2, kAvx512 };

/// The best of this machine, or what limit_level said. Any thread; makes no system call after the first time.
[[nodiscard]] Level level() noexcept;

/// For tests: nothing better than `level` from now on, so that one machine can run all that it knows.
void limit_level(Level level) noexcept;

}  // namespace leapp::native::kernels

/// After HWY_ONCE, in the namespace around HWY_NAMESPACE: the versions of FUNCTION, by Level.
#define LEAPP_KERNEL_TABLE(FUNCTION)                                                  \
  static constexpr decltype(&HWY_STATIC_DISPATCH(FUNCTION)) FUNCTION##_versions[] = { \
      HWY_CHOOSE_FALLBACK(FUNCTION), HWY_CHOOSE_SSE4(FUNCTION), HWY_CHOOSE_AVX2(FUNCTION), HWY_CHOOSE_AVX3(FUNCTION)}

/// The version of FUNCTION for this machine.
#define LEAPP_KERNEL(FUNCTION) (FUNCTION##_versions[static_cast<int>(::leapp::native::kernels::level())])
