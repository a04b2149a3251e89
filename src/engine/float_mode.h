// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace leapp::engine {

/// Denormal numbers count as zero on this thread for as long as it lives; then the mode is what it was. A decaying
/// recurrent state would otherwise make each multiplication a hundred times slower some minutes into a run. ONNX
/// Runtime's own switch acts for the first session of a process only and leaks into the caller.
class FlushDenormals {
 public:
  FlushDenormals() noexcept : before_(get()) { set(before_ | kFlush); }
  ~FlushDenormals() { set(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr std::uint64_t kFlush = 0x8040;  // flush to zero, denormals are zero
  static std::uint64_t get() noexcept { return _mm_getcsr(); }
  static void set(std::uint64_t mode) noexcept { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24U;
  static std::uint64_t get() noexcept {
    std::uint64_t mode = 0;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set(std::uint64_t mode) noexcept { __asm__ __volatile__("msr fpcr, %0" : : "r"(mode)); }
#else
  static constexpr std::uint64_t kFlush = 0;
  static std::uint64_t get() noexcept { return 0; }
  static void set(std::uint64_t) noexcept {}
#endif

  std::uint64_t before_;
};

}  // namespace leapp::engine
