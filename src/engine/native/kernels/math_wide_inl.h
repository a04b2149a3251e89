// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of vectors of float32 that are worked out in float64: those where that is the shortest way to be right
// everywhere. What comes out is the exact value rounded, or its neighbour.
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

#include "engine/native/kernels/math_inl.h"

#if defined(LEAPP_KERNELS_MATH_WIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEAPP_KERNELS_MATH_WIDE_INL_H_
#undef LEAPP_KERNELS_MATH_WIDE_INL_H_
#else
#define LEAPP_KERNELS_MATH_WIDE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// f of the vectors' halves in float64.
template <class D, class F, class... V>
HWY_INLINE hn::Vec<D> widely(D d, F f, V... x) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<double, D> dd;
  return hn::DemoteTo(d, f(dd, hn::PromoteTo(dd, x)...));
#else
  const hn::Half<D> half;
  const hn::Repartition<double, D> dd;
  const auto lower = f(dd, hn::PromoteTo(dd, hn::LowerHalf(half, x))...);
  const auto upper = f(dd, hn::PromoteTo(dd, hn::UpperHalf(half, x))...);
  return hn::Combine(d, hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
#endif
}

template <class D, class V>
HWY_INLINE V exp_wide(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V inside = hn::Min(hn::Max(x, hn::Set(d, -700.0)), hn::Set(d, 700.0));
  const V power = hn::Round(hn::Mul(inside, hn::Set(d, 1.4426950408889634)));
  const V near = hn::NegMulAdd(power, hn::Set(d, 0.693147180369123816490), inside);
  const V r = hn::NegMulAdd(power, hn::Set(d, 1.90821492927058770002e-10), near);
  const V q =
      polynomial(d, r, 0.499999999999551067, 0.166666666666625866, 0.0416666667862657343, 0.00833333334420297993,
                 0.00138888391105720083, 0.000198412245996560124, 0.0000248678701796877261, 2.76175647858760859e-6);
  const V value = hn::Add(hn::Set(d, 1.0), hn::MulAdd(hn::Mul(r, r), q, r));
  // The integer by its bits: 1.5 * 2^52 + power has it in its mantissa.
  const V shifted = hn::Add(power, hn::Set(d, 6755399441055744.0));
  const auto scale = hn::ShiftLeft<52>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 1023)));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(value, hn::BitCast(d, scale)));
}

/// Of a finite number above zero that is no denormal.
template <class D, class V>
HWY_INLINE V log_wide(D d, V x) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  // The exponent field of x / sqrt(1/2) as an integer, and from its bits as a float64.
  const auto bits = hn::Sub(hn::BitCast(di, x), hn::Set(di, 0x3fe6a09e667f3bcdLL));
  const auto field = hn::ShiftRight<52>(hn::Add(hn::BitCast(du, bits), hn::Set(du, 1024ULL << 52U)));
  const V e = hn::Sub(hn::BitCast(d, hn::Or(field, hn::Set(du, 0x4330000000000000ULL))),
                      hn::Set(d, 4503599627370496.0 + 1024.0));
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(di, hn::Sub(field, hn::Set(du, 1024ULL))));
  const V m = hn::BitCast(d, hn::Sub(hn::BitCast(di, x), exponent));
  const V one = hn::Set(d, 1.0);
  const V f = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V p = polynomial(d, hn::Mul(f, f), 2.0, 0.666666666666676457, 0.399999999993023381, 0.285714287606416799,
                         0.222221970567260466, 0.181836316802293288, 0.15312528148364191, 0.148097103606552767);
  return hn::MulAdd(e, hn::Set(d, 0.69314718055994531), hn::Mul(f, p));
}

// --- trigonometry -----------------------------------------------------------------------------------------------

/// Beyond this the multiples of pi / 2 below are not exact enough; the C library is asked instead.
inline constexpr float kLargestAngle = 1048576.0F;

/// x = quarter * pi / 2 + rest. pi / 2 is split so that the first product is exact.
template <class D, class V>
HWY_INLINE V reduce_angle(D d, V x, V* rest) {
  const V quarter = hn::Round(hn::Mul(x, hn::Set(d, 0.63661977236758134308)));
  const V near = hn::NegMulAdd(quarter, hn::Set(d, 1.57079632673412561417), x);
  *rest = hn::NegMulAdd(quarter, hn::Set(d, 6.07710050650619224932e-11), near);
  return quarter;
}

template <class D, class V>
HWY_INLINE V sin_reduced(D d, V r) {
  const V z = hn::Mul(r, r);
  const V p =
      polynomial(d, z, -0.166666666638552895, 0.00833333187471020877, -0.000198400867353848402, 2.72499258030592957e-6);
  return hn::MulAdd(hn::Mul(r, z), p, r);
}

template <class D, class V>
HWY_INLINE V cos_reduced(D d, V r) {
  const V z = hn::Mul(r, r);
  const V p =
      polynomial(d, z, 0.0416666666643212033, -0.001388888767201679, 0.0000248006003771567235, -2.73009592039010556e-7);
  return hn::MulAdd(hn::Mul(z, z), p, hn::NegMulAdd(hn::Set(d, 0.5), z, hn::Set(d, 1.0)));
}

/// The sine of x + shift * pi / 2.
template <class D, class V>
HWY_INLINE V sin_shifted(D d, V x, double shift) {
  V rest;
  const V quarter = hn::Add(reduce_angle(d, x, &rest), hn::Set(d, shift));
  const V half = hn::Floor(hn::Mul(quarter, hn::Set(d, 0.5)));
  const auto odd = hn::Ne(hn::Add(half, half), quarter);
  const V value = hn::IfThenElse(odd, cos_reduced(d, rest), sin_reduced(d, rest));
  const auto negative = hn::Ne(hn::Mul(hn::Floor(hn::Mul(half, hn::Set(d, 0.5))), hn::Set(d, 2.0)), half);
  return hn::IfThenElse(negative, hn::Neg(value), value);
}

template <class D, class V>
HWY_INLINE V tan_wide(D d, V x) {
  V rest;
  const V quarter = reduce_angle(d, x, &rest);
  const auto odd = hn::Ne(hn::Mul(hn::Floor(hn::Mul(quarter, hn::Set(d, 0.5))), hn::Set(d, 2.0)), quarter);
  const V sine = sin_reduced(d, rest);
  const V cosine = cos_reduced(d, rest);
  return hn::Div(hn::IfThenElse(odd, hn::Neg(cosine), sine), hn::IfThenElse(odd, sine, cosine));
}

/// y, with `library` of x in the lanes where x is beyond kLargestAngle or infinite.
template <class D, class V, class F>
HWY_INLINE V large_angles(D d, V x, V y, F library) {
  const auto large = hn::Gt(hn::Abs(x), hn::Set(d, kLargestAngle));
  if (HWY_LIKELY(hn::AllFalse(d, large))) return y;
  alignas(64) float of_x[64];
  alignas(64) float of_y[64];
  hn::Store(x, d, of_x);
  hn::Store(y, d, of_y);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::fabs(of_x[i]) <= kLargestAngle)) of_y[i] = library(of_x[i]);
  }
  return hn::Load(d, of_y);
}

template <class D, class V>
HWY_INLINE V sin_of(D d, V x) {
  const V y = widely(
      d, [](auto dd, auto v) HWY_ATTR { return sin_shifted(dd, v, 0.0); }, x);
  return large_angles(d, x, keep_zero(d, x, y), [](float v) { return std::sin(v); });
}

template <class D, class V>
HWY_INLINE V cos_of(D d, V x) {
  const V y = widely(
      d, [](auto dd, auto v) HWY_ATTR { return sin_shifted(dd, v, 1.0); }, x);
  return large_angles(d, x, y, [](float v) { return std::cos(v); });
}

template <class D, class V>
HWY_INLINE V tan_of(D d, V x) {
  const V y = widely(
      d, [](auto dd, auto v) HWY_ATTR { return tan_wide(dd, v); }, x);
  return large_angles(d, x, keep_zero(d, x, y), [](float v) { return std::tan(v); });
}

/// The angle of (x, y) for y >= 0. Not for (0, 0).
template <class D, class V>
HWY_INLINE V angle_wide(D d, V y, V x) {
  const V a = hn::Abs(x);
  const auto steep = hn::Gt(y, a);
  const V ratio = hn::Div(hn::IfThenElse(steep, a, y), hn::IfThenElse(steep, y, a));
  const V z = hn::Mul(ratio, ratio);
  const V p =
      polynomial(d, z, 0.999999999929303675, -0.333333312908899879, 0.199999011021715545, -0.142838132557431936,
                 0.110919229636833022, -0.0897417195836388108, 0.0722827834537725223, -0.0539566805713717178,
                 0.0338262189527868722, -0.0158283227491494156, 0.00473248419342192066, -0.000663395457110478719);
  const V flat = hn::Mul(ratio, p);
  const V angle = hn::IfThenElse(steep, hn::Sub(hn::Set(d, 1.57079632679489662), flat), flat);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 3.14159265358979324), angle), angle);
}

/// sqrt(1 - x^2), NaN beyond.
template <class D, class V>
HWY_INLINE V other_side(D d, V x) {
  const V one = hn::Set(d, 1.0);
  return hn::Sqrt(hn::Mul(hn::Sub(one, x), hn::Add(one, x)));
}

template <class D, class V>
HWY_INLINE V atan_of(D d, V x) {
  const V y = widely(
      d, [](auto dd, auto v) HWY_ATTR { return hn::CopySign(angle_wide(dd, hn::Abs(v), hn::Set(dd, 1.0)), v); }, x);
  return keep_zero(d, x, y);
}

template <class D, class V>
HWY_INLINE V asin_of(D d, V x) {
  const V y = widely(
      d, [](auto dd, auto v) HWY_ATTR { return hn::CopySign(angle_wide(dd, hn::Abs(v), other_side(dd, v)), v); }, x);
  return keep_zero(d, x, y);
}

template <class D, class V>
HWY_INLINE V acos_of(D d, V x) {
  return widely(
      d, [](auto dd, auto v) HWY_ATTR { return angle_wide(dd, other_side(dd, v), v); }, x);
}

// --- hyperbolic functions ---------------------------------------------------------------------------------------

template <class D, class V>
HWY_INLINE V cosh_of(D d, V x) {
  return widely(
      d,
      [](auto dd, auto v) HWY_ATTR {
        const auto e = exp_wide(dd, hn::Abs(v));
        return hn::Mul(hn::Set(dd, 0.5), hn::Add(e, hn::Div(hn::Set(dd, 1.0), e)));
      },
      x);
}

template <class D, class V>
HWY_INLINE V sinh_of(D d, V x) {
  const V y = widely(
      d,
      [](auto dd, auto v) HWY_ATTR {
        const auto e = exp_wide(dd, v);
        const auto z = hn::Mul(v, v);
        const auto series = polynomial(dd, z, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880);
        const auto difference = hn::Mul(hn::Set(dd, 0.5), hn::Sub(e, hn::Div(hn::Set(dd, 1.0), e)));
        return hn::IfThenElse(hn::Lt(z, hn::Set(dd, 0.25)), hn::Mul(v, series), difference);
      },
      x);
  return keep_zero(d, x, y);
}

/// log(1 + x) for x above -1, also beside 0.
template <class D, class V>
HWY_INLINE V log1p_wide(D d, V x) {
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 1.0e-8));
  return hn::IfThenElse(tiny, x, log_wide(d, hn::Add(x, hn::Set(d, 1.0))));
}

template <class D, class V>
HWY_INLINE V asinh_of(D d, V x) {
  const V y = widely(
      d,
      [](auto dd, auto v) HWY_ATTR {
        const auto a = hn::Abs(v);
        const auto one = hn::Set(dd, 1.0);
        const auto root = hn::Sqrt(hn::MulAdd(a, a, one));
        return hn::CopySign(log1p_wide(dd, hn::Add(a, hn::Div(hn::Mul(a, a), hn::Add(one, root)))), v);
      },
      x);
  return hn::IfThenElse(hn::IsFinite(x), keep_zero(d, x, y), x);
}

template <class D, class V>
HWY_INLINE V acosh_of(D d, V x) {
  const V y = widely(
      d,
      [](auto dd, auto v) HWY_ATTR {
        const auto above = hn::Sub(v, hn::Set(dd, 1.0));
        const auto root = hn::Sqrt(hn::Mul(above, hn::Add(v, hn::Set(dd, 1.0))));
        return log1p_wide(dd, hn::Add(above, root));
      },
      x);
  const V numbers = hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, y);
  return hn::IfThenElse(hn::Ge(x, hn::Set(d, 1.0F)), numbers, hn::NaN(d));
}

template <class D, class V>
HWY_INLINE V atanh_of(D d, V x) {
  const V y = widely(
      d,
      [](auto dd, auto v) HWY_ATTR {
        const auto a = hn::Abs(v);
        const auto one = hn::Set(dd, 1.0);
        const auto twice = log1p_wide(dd, hn::Div(hn::Add(a, a), hn::Sub(one, a)));
        return hn::CopySign(hn::Mul(hn::Set(dd, 0.5), twice), v);
      },
      x);
  const V one = hn::Set(d, 1.0F);
  const V ends = hn::IfThenElse(hn::Eq(hn::Abs(x), one), hn::CopySign(hn::Inf(d), x), keep_zero(d, x, y));
  return hn::IfThenElse(hn::Le(hn::Abs(x), one), ends, hn::NaN(d));
}

// --- powers -----------------------------------------------------------------------------------------------------

/// exp(y * log(|x|)) for finite numbers; |x| not 0.
template <class D, class V>
HWY_INLINE V power_of_magnitude(D d, V x, V y) {
  return widely(
      d, [](auto dd, auto base, auto power) HWY_ATTR { return exp_wide(dd, hn::Mul(power, log_wide(dd, base))); },
      hn::Abs(x), y);
}

/// As C's pow.
template <class D, class V>
HWY_INLINE V pow_of(D d, V x, V y) {
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0F);
  const V infinity = hn::Inf(d);
  const V a = hn::Abs(x);
  // Beyond 2^24 floats are even integers, and Floor of them is themselves.
  const V half = hn::Mul(y, hn::Set(d, 0.5F));
  const auto whole = hn::And(hn::Eq(hn::Floor(y), y), hn::Lt(hn::Abs(y), infinity));
  const auto odd = hn::And(whole, hn::Ne(hn::Floor(half), half));
  // |x| is 0 or infinite, or y is infinite: the result is 0, 1 or infinite.
  const auto flat = hn::Or(hn::Eq(a, zero), hn::Eq(a, infinity));
  const auto extreme = hn::Or(flat, hn::Eq(hn::Abs(y), infinity));
  const auto grows = hn::Xor(hn::Gt(a, one), hn::Lt(y, zero));
  const V end = hn::IfThenElse(hn::And(hn::Eq(a, one), hn::Not(flat)), one, hn::IfThenElse(grows, infinity, zero));
  V value = hn::IfThenElse(extreme, end, power_of_magnitude(d, hn::IfThenElse(extreme, one, a), y));
  const auto minus = hn::Lt(hn::CopySign(one, x), zero);
  value = hn::IfThenElse(hn::And(minus, odd), hn::Neg(value), value);
  const auto undefined = hn::And(hn::And(hn::Lt(x, zero), hn::Not(whole)), hn::Not(extreme));
  value = hn::IfThenElse(undefined, hn::NaN(d), value);
  value = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::NaN(d), value);
  return hn::IfThenElse(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), one, value);
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#endif
