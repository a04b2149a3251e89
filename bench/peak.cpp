// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What one core can do at most: multiplications and additions in registers, and reading memory of some sizes over and
// over. A line of JSON: billions of operations and of bytes a second, the best of some rounds of this thread's own
// time.
//
//   bench_peak BYTES...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>

#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace leapp::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sums that do not wait for each other; more than any core has under way.
constexpr int kSums = 12;

/// Returns the number of operations done.
double multiply(std::int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sums[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sums[i] = hn::Set(d, result[0] + static_cast<float>(i));
  const auto factor = hn::Set(d, 0.999F);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], factor, factor);
  }
#pragma GCC unroll 16
  for (int i = 1; i < kSums; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  hn::StoreU(sums[0], d, result);
  return 2.0 * kSums * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

/// REQUIRES: a multiple of 256 floats.
void read(const float* from, std::int64_t count, float* result) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  auto third = hn::Zero(d);
  auto fourth = hn::Zero(d);
  for (std::int64_t i = 0; i < count; i += 4 * lanes) {
    first = hn::Add(first, hn::LoadU(d, from + i));
    second = hn::Add(second, hn::LoadU(d, from + i + lanes));
    third = hn::Add(third, hn::LoadU(d, from + i + 2 * lanes));
    fourth = hn::Add(fourth, hn::LoadU(d, from + i + 3 * lanes));
  }
  hn::StoreU(hn::Add(hn::Add(first, second), hn::Add(third, fourth)), d, result);
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::bench {

LEAPP_KERNEL_TABLE(multiply);
LEAPP_KERNEL_TABLE(read);

namespace {

constexpr int kRounds = 15;

double worked() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double operations_per_second() {
  float result[64] = {};
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = worked();
    const double done = LEAPP_KERNEL(multiply)(3'000'000, result);
    best = std::max(best, done / (worked() - start));
  }
  return best;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};

double bytes_per_second(std::int64_t bytes) {
  const std::int64_t count = std::max<std::int64_t>(bytes / 1024, 1) * 256;
  const std::unique_ptr<float, Free> memory(
      static_cast<float*>(std::aligned_alloc(64, static_cast<std::size_t>(count) * 4)));
  if (!memory) throw std::bad_alloc();
  std::fill_n(memory.get(), count, 1.0F);
  float result[64] = {};
  const std::int64_t times = std::max<std::int64_t>(std::int64_t{100'000'000} / (count * 4), 1);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double start = worked();
    for (std::int64_t i = 0; i < times; ++i) LEAPP_KERNEL(read)(memory.get(), count, result);
    best = std::max(best, static_cast<double>(count * 4 * times) / (worked() - start));
  }
  return best;
}

}  // namespace
}  // namespace leapp::bench

int main(int count, char** arguments) {
  std::printf("{\"instructions\": \"%s\", \"gflops\": %.1f, \"gbytes\": [", leapp::native::kernels::instruction_set(),
              leapp::bench::operations_per_second() * 1e-9);
  for (int i = 1; i < count; ++i) {
    std::printf("%s%.1f", i > 1 ? ", " : "", leapp::bench::bytes_per_second(std::atoll(arguments[i])) * 1e-9);
  }
  std::printf("]}\n");
  return 0;
}
#endif
