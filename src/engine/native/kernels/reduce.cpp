// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of [outer, reduced, inner]: along dense rows if inner is 1, else row onto row.
#include <cmath>
#include <limits>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/math_inl.h"
#include "engine/native/kernels/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

/// y[i] = join(y[i], of(x[i])).
template <class Of, class Join>
HWY_INLINE void fold_onto(const float* x, float* y, std::int64_t n, Of of, Join join) {
  constexpr RowTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(join(hn::LoadU(d, y + i), of(hn::LoadU(d, x + i))), d, y + i);
  }
  if (i == n) return;
  store_part(join(load_part(y + i, n - i, 0.0F), of(load_part(x + i, n - i, 0.0F))), y + i, n - i);
}

template <class Of, class Join>
HWY_NOINLINE void fold_all(const Reduce& args, float neutral, float filler, Of of, Join join) {
  if (args.inner == 1) {
    for (std::int64_t i = 0; i < args.outer; ++i) {
      args.y[i] = fold_row(args.x + i * args.reduced, args.reduced, neutral, filler, of, join);
    }
    return;
  }
  for (std::int64_t i = 0; i < args.outer; ++i) {
    float* y = args.y + i * args.inner;
    for (std::int64_t k = 0; k < args.inner; ++k) y[k] = neutral;
    for (std::int64_t r = 0; r < args.reduced; ++r) {
      fold_onto(args.x + (i * args.reduced + r) * args.inner, y, args.inner, of, join);
    }
  }
}

/// log(sum(exp(x))), with the largest taken out so that nothing overflows. Rare enough for one at a time.
HWY_NOINLINE void log_sum_exp(const Reduce& args) {
  for (std::int64_t i = 0; i < args.outer * args.inner; ++i) {
    const float* x = args.x + i / args.inner * args.reduced * args.inner + i % args.inner;
    float top = -std::numeric_limits<float>::infinity();
    for (std::int64_t r = 0; r < args.reduced; ++r) {
      const float value = x[r * args.inner];
      if (value > top || std::isnan(value)) top = value;
      if (std::isnan(top)) break;
    }
    if (std::isinf(top) || std::isnan(top)) {
      args.y[i] = top;
      continue;
    }
    double sum = 0;
    for (std::int64_t r = 0; r < args.reduced; ++r) sum += std::exp(static_cast<double>(x[r * args.inner] - top));
    args.y[i] = static_cast<float>(top + std::log(sum));
  }
}

void reduce_all(const Reduce& args) {
  const float infinity = std::numeric_limits<float>::infinity();
  switch (args.reduction) {
    case Reduction::kSum:
    case Reduction::kMean:
    case Reduction::kLogSum:
      return fold_all(args, 0.0F, 0.0F, SameNumber(), Sum());
    case Reduction::kMax:
      return fold_all(args, -infinity, -infinity, SameNumber(), Largest());
    case Reduction::kMin:
      return fold_all(args, infinity, infinity, SameNumber(), Smallest());
    case Reduction::kProduct:
      return fold_all(args, 1.0F, 1.0F, SameNumber(), Product());
    case Reduction::kL1:
      return fold_all(args, 0.0F, 0.0F, Magnitude(), Sum());
    case Reduction::kL2:
    case Reduction::kSumSquare:
      return fold_all(args, 0.0F, 0.0F, SquareNumber(), Sum());
    case Reduction::kLogSumExp:
      return log_sum_exp(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(reduce_all);

void reduce(const Reduce& args) noexcept {
  LEAPP_KERNEL(reduce_all)(args);
  const std::int64_t count = args.outer * args.inner;
  const auto n = static_cast<std::size_t>(count);
  switch (args.reduction) {
    case Reduction::kMean:  // of nothing: 0 / 0
      for (std::int64_t i = 0; i < count; ++i) args.y[i] /= static_cast<float>(args.reduced);
      return;
    case Reduction::kL2:
      apply_unary({Unary::kSqrt}, args.y, args.y, n);
      return;
    case Reduction::kLogSum:
      apply_unary({Unary::kLog}, args.y, args.y, n);
      return;
    default:
      return;
  }
}

}  // namespace leapp::native::kernels
#endif
