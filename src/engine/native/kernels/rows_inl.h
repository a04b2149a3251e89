// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums, maxima and the like along dense rows, once per instruction set. The order of additions depends on the length
// alone.
#include <hwy/highway.h>

#include <cstdint>

#if defined(LEAPP_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEAPP_KERNELS_ROWS_INL_H_
#undef LEAPP_KERNELS_ROWS_INL_H_
#else
#define LEAPP_KERNELS_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using RowTag = hn::CappedTag<float, 16>;
using RowVector = hn::Vec<RowTag>;

/// The numbers from x on, of which `count` exist; the others are `filler`.
HWY_INLINE RowVector load_part(const float* x, std::int64_t count, float filler) {
  alignas(64) float part[16];
  for (std::int64_t i = 0; i < 16; ++i) part[i] = i < count ? x[i] : filler;
  return hn::Load(RowTag(), part);
}

HWY_INLINE void store_part(RowVector value, float* y, std::int64_t count) {
  alignas(64) float part[16];
  hn::Store(value, RowTag(), part);
  for (std::int64_t i = 0; i < count; ++i) y[i] = part[i];
}

/// y[i] = f(x[i], i), with i the position of a vector; y may be x.
template <class F>
HWY_INLINE void map_row(const float* x, float* y, std::int64_t n, F f) {
  constexpr RowTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i), i), d, y + i);
  if (i < n) store_part(f(load_part(x + i, n - i, 0.0F), i), y + i, n - i);
}

/// join(join(of(x[0]), of(x[1])), ...) in four interleaved parts. `neutral` is what changes nothing, after `of`;
/// `filler` is an x whose `of` is that.
template <class Of, class Join>
HWY_INLINE float fold_row(const float* x, std::int64_t n, float neutral, float filler, Of of, Join join) {
  constexpr RowTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  RowVector parts[4] = {hn::Set(d, neutral), hn::Set(d, neutral), hn::Set(d, neutral), hn::Set(d, neutral)};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int p = 0; p < 4; ++p) parts[p] = join(parts[p], of(hn::LoadU(d, x + i + p * lanes)));
  }
  for (; i + lanes <= n; i += lanes) parts[0] = join(parts[0], of(hn::LoadU(d, x + i)));
  if (i < n) parts[1] = join(parts[1], of(load_part(x + i, n - i, filler)));
  const RowVector all = join(join(parts[0], parts[1]), join(parts[2], parts[3]));
  alignas(64) float each[16];
  hn::Store(all, d, each);
  // Halves onto halves, as a tree.
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t k = 0; k < half; ++k) {
      each[k] = hn::GetLane(join(hn::Set(d, each[k]), hn::Set(d, each[k + half])));
    }
  }
  return each[0];
}

struct SameNumber {
  HWY_INLINE RowVector operator()(RowVector v) const { return v; }
};
struct SquareNumber {
  HWY_INLINE RowVector operator()(RowVector v) const { return hn::Mul(v, v); }
};
struct Magnitude {
  HWY_INLINE RowVector operator()(RowVector v) const { return hn::Abs(v); }
};
struct Sum {
  HWY_INLINE RowVector operator()(RowVector a, RowVector b) const { return hn::Add(a, b); }
};
struct Product {
  HWY_INLINE RowVector operator()(RowVector a, RowVector b) const { return hn::Mul(a, b); }
};
/// NaN wins.
struct Largest {
  HWY_INLINE RowVector operator()(RowVector a, RowVector b) const {
    return hn::IfThenElse(hn::Or(hn::Ge(a, b), hn::IsNaN(a)), a, b);
  }
};
struct Smallest {
  HWY_INLINE RowVector operator()(RowVector a, RowVector b) const {
    return hn::IfThenElse(hn::Or(hn::Le(a, b), hn::IsNaN(a)), a, b);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#endif
