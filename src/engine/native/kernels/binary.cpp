// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/binary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/math_wide_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Float = hn::Vec<Floats>;

/// y[i] = f(a[i], b[i], c[i]); the end is done under a mask, or on copies where the machine has no such stores.
template <class F>
HWY_INLINE void map3(const float* a, const float* b, const float* c, float* y, std::size_t n, F f) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, y + i);
  }
  if (i == n) return;
#if HWY_TARGET <= HWY_AVX3
  const auto there = hn::FirstN(d, n - i);
  hn::BlendedStore(
      f(d, hn::MaskedLoad(there, d, a + i), hn::MaskedLoad(there, d, b + i), hn::MaskedLoad(there, d, c + i)), there, d,
      y + i);
#else
  alignas(64) float rest[3][16] = {};
  for (std::size_t k = i; k < n; ++k) {
    rest[0][k - i] = a[k];
    rest[1][k - i] = b[k];
    rest[2][k - i] = c[k];
  }
  hn::Store(f(d, hn::Load(d, rest[0]), hn::Load(d, rest[1]), hn::Load(d, rest[2])), d, rest[0]);
  for (std::size_t k = i; k < n; ++k) y[k] = rest[0][k - i];
#endif
}

template <class M>
HWY_INLINE Float truth(M mask) {
  return hn::IfThenElseZero(mask, hn::Set(Floats(), 1.0F));
}

void where_array(const float* a, const float* b, const float* c, float* y, std::size_t n) {
  map3(a, b, c, y, n,
       [](auto d, auto u, auto v, auto w) HWY_ATTR { return hn::IfThenElse(hn::Ne(u, hn::Zero(d)), v, w); });
}

#define LEAPP_MAP(EXPRESSION)                                                                       \
  map3(a, b, b, y, n, [](auto d, auto u, auto v, auto) HWY_ATTR { return (void)d, (EXPRESSION); }); \
  return

HWY_NOINLINE void logical_array(Binary function, const float* a, const float* b, float* y, std::size_t n) {
  switch (function) {
    case Binary::kEqual:
      LEAPP_MAP(truth(hn::Eq(u, v)));
    case Binary::kLess:
      LEAPP_MAP(truth(hn::Lt(u, v)));
    case Binary::kLessOrEqual:
      LEAPP_MAP(truth(hn::Le(u, v)));
    case Binary::kGreater:
      LEAPP_MAP(truth(hn::Gt(u, v)));
    case Binary::kGreaterOrEqual:
      LEAPP_MAP(truth(hn::Ge(u, v)));
    case Binary::kAnd:
      LEAPP_MAP(truth(hn::And(hn::Ne(u, hn::Zero(d)), hn::Ne(v, hn::Zero(d)))));
    case Binary::kOr:
      LEAPP_MAP(truth(hn::Or(hn::Ne(u, hn::Zero(d)), hn::Ne(v, hn::Zero(d)))));
    case Binary::kXor:
      LEAPP_MAP(truth(hn::Xor(hn::Ne(u, hn::Zero(d)), hn::Ne(v, hn::Zero(d)))));
    default:
      return;
  }
}

void binary_array(Binary function, const float* a, const float* b, float* y, std::size_t n) {
  switch (function) {
    case Binary::kAdd:
      LEAPP_MAP(hn::Add(u, v));
    case Binary::kSub:
      LEAPP_MAP(hn::Sub(u, v));
    case Binary::kMul:
      LEAPP_MAP(hn::Mul(u, v));
    case Binary::kDiv:
      LEAPP_MAP(hn::Div(u, v));
    case Binary::kPow:
      LEAPP_MAP(pow_of(d, u, v));
    case Binary::kMax:
      LEAPP_MAP(hn::IfThenElse(hn::Or(hn::Ge(u, v), hn::IsNaN(u)), u, v));
    case Binary::kMin:
      LEAPP_MAP(hn::IfThenElse(hn::Or(hn::Le(u, v), hn::IsNaN(u)), u, v));
    case Binary::kPRelu:
      LEAPP_MAP(hn::IfThenElse(hn::Lt(u, hn::Zero(d)), hn::Mul(u, v), u));
    case Binary::kFmod:  // exact, and rare
      for (std::size_t i = 0; i < n; ++i) y[i] = std::fmod(a[i], b[i]);
      return;
    default:
      logical_array(function, a, b, y, n);
  }
}

#undef LEAPP_MAP

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(binary_array);
LEAPP_KERNEL_TABLE(where_array);

void apply_binary(Binary function, const float* a, const float* b, float* y, std::size_t n) noexcept {
  LEAPP_KERNEL(binary_array)(function, a, b, y, n);
}

void apply_where(const float* a, const float* b, const float* c, float* y, std::size_t n) noexcept {
  LEAPP_KERNEL(where_array)(a, b, c, y, n);
}

}  // namespace leapp::native::kernels
#endif
