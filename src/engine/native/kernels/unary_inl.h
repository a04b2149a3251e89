// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Unary as a function of arrays, once per instruction set.
#include <hwy/highway.h>

#include <cstddef>

#include "engine/native/kernels/kernels.h"
#include "engine/native/kernels/math_inl.h"
#include "engine/native/kernels/math_wide_inl.h"

#if defined(LEAPP_KERNELS_UNARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEAPP_KERNELS_UNARY_INL_H_
#undef LEAPP_KERNELS_UNARY_INL_H_
#else
#define LEAPP_KERNELS_UNARY_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// At most 16 lanes, so that blocks that are multiples of 16 are whole vectors.
using Floats = hn::CappedTag<float, 16>;
using Float = hn::Vec<Floats>;

/// y[i] = f(x[i]); y may be x. What is left at the end is done on a copy: the result of a number does not depend on
/// where it stands.
template <class F>
HWY_INLINE void map(const float* x, float* y, std::size_t n, F f) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
  alignas(64) float rest[16] = {};
  for (std::size_t k = i; k < n; ++k) rest[k - i] = x[k];
  hn::Store(f(d, hn::Load(d, rest)), d, rest);
  for (std::size_t k = i; k < n; ++k) y[k] = rest[k - i];
}

/// 1 where the mask is set, else 0.
template <class M>
HWY_INLINE Float truth(M mask) {
  return hn::IfThenElseZero(mask, hn::Set(Floats(), 1.0F));
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define LEAPP_MAP(EXPRESSION)                                                   \
  map(x, y, n, [=](auto d, auto v) HWY_ATTR { return (void)d, (EXPRESSION); }); \
  break
// NOLINTEND(bugprone-macro-parentheses)

/// The cheap ones.
HWY_NOINLINE bool simple_unary(const Activation& function, const float* x, float* y, std::size_t n) {
  const Floats d0;
  const Float zero = hn::Zero(d0);
  const Float one = hn::Set(d0, 1.0F);
  const Float alpha = hn::Set(d0, function.alpha);
  const Float beta = hn::Set(d0, function.beta);
  switch (function.function) {
    case Unary::kIdentity:
      LEAPP_MAP(v);
    case Unary::kAbs:
      LEAPP_MAP(hn::Abs(v));
    case Unary::kNeg:
      LEAPP_MAP(hn::Neg(v));
    case Unary::kSqrt:
      LEAPP_MAP(hn::Sqrt(v));
    case Unary::kReciprocal:
      LEAPP_MAP(hn::Div(one, v));
    case Unary::kFloor:
      LEAPP_MAP(hn::Floor(v));
    case Unary::kCeil:
      LEAPP_MAP(hn::Ceil(v));
    case Unary::kRound:
      LEAPP_MAP(hn::Round(v));
    case Unary::kSign:
      LEAPP_MAP(hn::IfThenElse(hn::Gt(v, zero), one, hn::IfThenElse(hn::Lt(v, zero), hn::Neg(one), hn::Add(v, zero))));
    case Unary::kRelu:
      LEAPP_MAP(hn::IfThenElse(hn::Lt(v, zero), zero, v));
    case Unary::kLeakyRelu:
      LEAPP_MAP(hn::IfThenElse(hn::Lt(v, zero), hn::Mul(alpha, v), v));
    case Unary::kThresholdedRelu:
      LEAPP_MAP(hn::IfThenElse(hn::Le(v, alpha), zero, v));
    case Unary::kSoftsign:
      LEAPP_MAP(hn::Div(v, hn::Add(one, hn::Abs(v))));
    case Unary::kClip:
      LEAPP_MAP(hn::IfThenElse(hn::Gt(hn::IfThenElse(hn::Lt(v, alpha), alpha, v), beta), beta,
                               hn::IfThenElse(hn::Lt(v, alpha), alpha, v)));
    case Unary::kNot:
      LEAPP_MAP(truth(hn::Eq(v, zero)));
    case Unary::kIsNaN:
      LEAPP_MAP(truth(hn::IsNaN(v)));
    case Unary::kIsInf: {
      const Float above = truth(hn::Ne(alpha, zero));
      const Float below = truth(hn::Ne(beta, zero));
      LEAPP_MAP(
          hn::IfThenElse(hn::Eq(v, hn::Inf(d)), above, hn::IfThenElse(hn::Eq(v, hn::Neg(hn::Inf(d))), below, zero)));
    }
    default:
      return false;
  }
  return true;
}

/// Those that layers end with.
HWY_NOINLINE bool activation_unary(const Activation& function, const float* x, float* y, std::size_t n) {
  const Floats d0;
  const Float zero = hn::Zero(d0);
  const Float one = hn::Set(d0, 1.0F);
  const Float alpha = hn::Set(d0, function.alpha);
  const Float beta = hn::Set(d0, function.beta);
  const auto unit = [=](Float v) HWY_ATTR {
    return hn::IfThenElse(hn::Lt(v, zero), zero, hn::IfThenElse(hn::Gt(v, one), one, v));
  };
  switch (function.function) {
    case Unary::kExp:
      LEAPP_MAP(exp_of(d, v));
    case Unary::kLog:
      LEAPP_MAP(log_of(d, v));
    case Unary::kTanh:
      LEAPP_MAP(tanh_of(d, v));
    case Unary::kSigmoid:
      LEAPP_MAP(sigmoid_of(d, v));
    case Unary::kErf:
      LEAPP_MAP(erf_of(d, v));
    case Unary::kElu:
      LEAPP_MAP(elu_of(d, v, alpha));
    case Unary::kSelu:
      LEAPP_MAP(hn::Mul(beta, elu_of(d, v, alpha)));
    case Unary::kCelu:
      LEAPP_MAP(hn::IfThenElse(hn::Lt(v, zero), hn::Mul(alpha, expm1_of(d, hn::Div(v, alpha))), v));
    case Unary::kSoftplus:
      LEAPP_MAP(softplus_of(d, v));
    case Unary::kHardSigmoid:
      LEAPP_MAP(unit(hn::MulAdd(alpha, v, beta)));
    case Unary::kHardSwish:
      LEAPP_MAP(hn::Mul(v, unit(hn::MulAdd(hn::Set(d, 1.0F / 6), v, hn::Set(d, 0.5F)))));
    case Unary::kMish:
      LEAPP_MAP(mish_of(d, v));
    case Unary::kGelu:
      LEAPP_MAP(gelu_of(d, v));
    case Unary::kGeluTanh:
      LEAPP_MAP(gelu_tanh_of(d, v));
    case Unary::kSwish:
      LEAPP_MAP(gated(d, v, hn::Mul(alpha, v)));
    default:
      return false;
  }
  return true;
}

/// Those that are worked out in float64.
HWY_NOINLINE void wide_unary(const Activation& function, const float* x, float* y, std::size_t n) {
  switch (function.function) {
    case Unary::kSin:
      LEAPP_MAP(sin_of(d, v));
    case Unary::kCos:
      LEAPP_MAP(cos_of(d, v));
    case Unary::kTan:
      LEAPP_MAP(tan_of(d, v));
    case Unary::kAsin:
      LEAPP_MAP(asin_of(d, v));
    case Unary::kAcos:
      LEAPP_MAP(acos_of(d, v));
    case Unary::kAtan:
      LEAPP_MAP(atan_of(d, v));
    case Unary::kSinh:
      LEAPP_MAP(sinh_of(d, v));
    case Unary::kCosh:
      LEAPP_MAP(cosh_of(d, v));
    case Unary::kAsinh:
      LEAPP_MAP(asinh_of(d, v));
    case Unary::kAcosh:
      LEAPP_MAP(acosh_of(d, v));
    case Unary::kAtanh:
      LEAPP_MAP(atanh_of(d, v));
    default:
      break;
  }
}

#undef LEAPP_MAP

HWY_INLINE void unary(const Activation& function, const float* x, float* y, std::size_t n) {
  if (simple_unary(function, x, y, n)) return;
  if (activation_unary(function, x, y, n)) return;
  wide_unary(function, x, y, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#endif
