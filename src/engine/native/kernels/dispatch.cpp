// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/kernels/dispatch.h"

#include <hwy/highway.h>

#if HWY_ARCH_X86_64
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "engine/native/kernels/kernels.h"

#if HWY_IS_DEBUG_BUILD
// Its assertions, in builds without optimisation and under clang's sanitizers, call a function of the library that
// nothing links.
void hwy::Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::abort();
}
#endif

namespace leapp::native::kernels {

namespace {

#if HWY_ARCH_X86_64
/// clang 14 knows no such word for __builtin_cpu_supports.
bool has_f16c() noexcept {
  unsigned registers[4]{};
  return __get_cpuid(1, &registers[0], &registers[1], &registers[2], &registers[3]) != 0 &&
         (registers[2] & bit_F16C) != 0;
}
#endif

Level best_level() noexcept {
#if HWY_ARCH_X86_64
  // What Highway compiles each target with. The compiler's library asks the operating system too (xgetbv).
  const bool sse4 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0 &&
                    __builtin_cpu_supports("aes") != 0;
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c() &&
                    __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512cd") != 0;
  return avx512 ? Level::kAvx512 : avx2 ? Level::kAvx2 : sse4 ? Level::kSse4 : Level::kBaseline;
#else
  return Level::kBaseline;
#endif
}

constexpr int kUnknown = -1;
std::atomic<int> chosen{kUnknown};

}  // namespace

Level level() noexcept {
  const int known = chosen.load(std::memory_order_relaxed);
  if (known != kUnknown) return static_cast<Level>(known);
  const Level best = best_level();
  chosen.store(static_cast<int>(best), std::memory_order_relaxed);
  return best;
}

void limit_level(Level level) noexcept {
  chosen.store(std::min(static_cast<int>(level), static_cast<int>(best_level())), std::memory_order_relaxed);
}

const char* instruction_set() noexcept {
  switch (level()) {
    case Level::kAvx512:
      return "AVX-512";
    case Level::kAvx2:
      return "AVX2";
    case Level::kSse4:
      return "SSE4";
    case Level::kBaseline:
      break;
  }
#if HWY_ARCH_ARM_A64
  return "NEON";
#else
  return "baseline";
#endif
}

}  // namespace leapp::native::kernels
