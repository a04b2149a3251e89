// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of vectors of float32, once per instruction set: those that layers are made of. Each stays within 4 units
// in the last place of the exact value (GELU: 3.66, or 3.63 without FMA); polynomials are fitted at Chebyshev nodes.
// None assumes FMA, and none looks at the rounding mode. The rest, which may be slower, is in math_wide_inl.h.
#include <hwy/highway.h>

#if defined(LEAPP_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEAPP_KERNELS_MATH_INL_H_
#undef LEAPP_KERNELS_MATH_INL_H_
#else
#define LEAPP_KERNELS_MATH_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// first + x * (second + x * (...))
template <class D, class V>
HWY_INLINE V polynomial(D d, V /*x*/, hn::TFromD<D> last) {
  return hn::Set(d, last);
}
template <class D, class V, class... More>
HWY_INLINE V polynomial(D d, V x, hn::TFromD<D> first, More... more) {
  return hn::MulAdd(polynomial(d, x, static_cast<hn::TFromD<D>>(more)...), x, hn::Set(d, first));
}

/// 2 to the power of an integer in [-126, 127].
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI exponent) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(di, 127))));
}

/// What the result is at zero: the argument, with its sign.
template <class D, class V>
HWY_INLINE V keep_zero(D d, V x, V y) {
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
}

/// exp(x) - 1 = r + r^2 q(r) for |r| <= ln(2) / 2.
template <class D, class V>
HWY_INLINE V expm1_reduced(D d, V r) {
  const V q = polynomial(d, r, 0.500000001345772715F, 0.166666666816142557F, 0.0416664650060400488F,
                         0.00833331093444886847F, 0.00139336410319867012F, 0.000198909808697503256F);
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

/// x = power * ln(2) + rest. ln(2) is split so that the first product is exact.
template <class D, class V>
HWY_INLINE V reduce_by_ln2(D d, V x, V* rest) {
  const V power = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  const V near = hn::NegMulAdd(power, hn::Set(d, 0.693359375F), x);
  *rest = hn::MulAdd(power, hn::Set(d, 2.12194440e-4F), near);
  return power;
}

/// value * 2^power. In two steps and last: results that are infinite or denormal are rounded once.
template <class D, class V>
HWY_INLINE V scale_by_power(D d, V value, V power) {
  const hn::RebindToSigned<D> di;
  const auto whole = hn::ConvertTo(di, power);
  const auto half = hn::ShiftRight<1>(whole);
  return hn::Mul(hn::Mul(value, power_of_two(d, half)), power_of_two(d, hn::Sub(whole, half)));
}

/// exp(x + low) = (1 + result) * 2^power, where low is small beside 1.
template <class D, class V>
HWY_INLINE V exp_parts(D d, V x, V low, V* power) {
  V rest;
  *power = reduce_by_ln2(d, hn::Min(hn::Max(x, hn::Set(d, -120.0F)), hn::Set(d, 100.0F)), &rest);
  return expm1_reduced(d, hn::Add(rest, low));
}

template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  V power;
  const V value = exp_parts(d, x, hn::Zero(d), &power);
  return hn::IfThenElse(hn::IsNaN(x), x, scale_by_power(d, hn::Add(hn::Set(d, 1.0F), value), power));
}

template <class D, class V>
HWY_INLINE V expm1_of(D d, V x) {
  const hn::RebindToSigned<D> di;
  // Below -18 the result is -1, above 89 infinite.
  const V inside = hn::Min(hn::Max(x, hn::Set(d, -18.0F)), hn::Set(d, 89.0F));
  V rest;
  const V power = reduce_by_ln2(d, inside, &rest);
  const V half = power_of_two(d, hn::Sub(hn::ConvertTo(di, power), hn::Set(di, 1)));  // 2^128 would not be a number
  const V sum = hn::MulAdd(half, expm1_reduced(d, rest), hn::Sub(half, hn::Set(d, 0.5F)));
  const V result = keep_zero(d, x, hn::Add(sum, sum));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

template <class D, class V>
HWY_INLINE V log_of(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38F));
  const V normal = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 33554432.0F)), x);
  const auto bits = hn::BitCast(di, normal);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));  // mantissa from sqrt(1/2)
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), hn::Set(d, 1.0F));
  const V e = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(tiny, hn::Set(d, 25.0F)));
  const V f2 = hn::Mul(f, f);
  const V q = polynomial(d, f, 0.333333311800300481F, -0.24999996957950882F, 0.200007157488921017F,
                         -0.166678023195012541F, 0.142490576456974804F, -0.124256873314511061F, 0.116854199234867393F,
                         -0.114797338466376356F, 0.0697161147145117783F);
  V y = hn::Mul(hn::Mul(f, f2), q);
  y = hn::NegMulAdd(e, hn::Set(d, 2.12194440e-4F), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5F), f2, y);
  y = hn::MulAdd(e, hn::Set(d, 0.693359375F), hn::Add(f, y));
  const V infinity = hn::Inf(d);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), y, hn::NaN(d));
}

/// log(1 + x) for x in [0, 1]: what rounding 1 + x lost is put back to first order.
template <class D, class V>
HWY_INLINE V log1p_of_small(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V sum = hn::Add(one, x);
  const V lost = hn::Sub(x, hn::Sub(sum, one));
  return hn::Add(log_of(d, sum), hn::Div(lost, sum));
}

template <class D, class V>
HWY_INLINE V tanh_of(D d, V x) {
  const V magnitude = hn::Abs(x);
  const V t = expm1_of(d, hn::Mul(magnitude, hn::Set(d, -2.0F)));
  const V y = hn::Div(hn::Neg(t), hn::Add(t, hn::Set(d, 2.0F)));
  return hn::CopySign(y, x);
}

template <class D, class V>
HWY_INLINE V sigmoid_of(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  const V e = exp_of(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

template <class D, class V>
HWY_INLINE V softplus_of(D d, V x) {
  const V positive = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
  return hn::Add(positive, log1p_of_small(d, exp_of(d, hn::Neg(hn::Abs(x)))));
}

/// What is missing in t = 2 / sum, where sum = a + 2 was rounded too. The product of both is taken apart into halves,
/// so that it is exact on every instruction set.
template <class D, class V>
HWY_INLINE V quotient_error(D d, V t, V sum, V a) {
  const hn::RebindToUnsigned<D> du;
  const V two = hn::Set(d, 2.0F);
  const auto upper = [&](V v)
                         HWY_ATTR { return hn::BitCast(d, hn::And(hn::BitCast(du, v), hn::Set(du, 0xfffff000U))); };
  const V back = hn::Sub(sum, a);
  const V sum_low = hn::Add(hn::Sub(a, hn::Sub(sum, back)), hn::Sub(two, back));
  const V t_high = upper(t);
  const V t_low = hn::Sub(t, t_high);
  const V sum_high = upper(sum);
  const V sum_rest = hn::Sub(sum, sum_high);
  V rest = hn::Sub(two, hn::Mul(t_high, sum_high));
  rest = hn::Sub(hn::Sub(rest, hn::Mul(t_high, sum_rest)), hn::Mul(t_low, sum_high));
  rest = hn::Sub(hn::Sub(rest, hn::Mul(t_low, sum_rest)), hn::Mul(t, sum_low));
  return hn::Mul(rest, hn::Mul(t, hn::Set(d, 0.5F)));
}

/// factor * erfc(a / sqrt(2)) / 2 for a >= 0.9: the part of a normal distribution beyond a. The square of a is taken in
/// two parts, as its error would be multiplied by a^2.
template <class D, class V>
HWY_INLINE V scaled_tail(D d, V a, V factor) {
  const hn::RebindToUnsigned<D> du;
  const V inside = hn::IfThenElse(hn::Gt(a, hn::Set(d, 15.5F)), hn::Set(d, 15.5F), a);
  const V two = hn::Set(d, 2.0F);
  const V sum = hn::Add(inside, two);
  const V t = hn::Div(two, sum);
  const V missing = quotient_error(d, t, sum, inside);
  const V p =
      polynomial(d, hn::Add(hn::Sub(t, hn::Set(d, 0.375F)), missing), 0.295960817597145428F, 0.310291390090011756F,
                 0.110034617207658001F, -0.126358657112586554F, -0.0803177614827615674F, 0.125040094381490816F,
                 0.0335874579529914621F, -0.151967912875530759F, 0.0369414145031129347F, 0.103048770505341502F);
  const V high = hn::BitCast(d, hn::And(hn::BitCast(du, inside), hn::Set(du, 0xfffff000U)));
  const V low = hn::Sub(inside, high);
  const V half = hn::Set(d, -0.5F);
  V power;
  const V value =
      exp_parts(d, hn::Mul(half, hn::Mul(high, high)), hn::Mul(half, hn::Mul(low, hn::Add(inside, high))), &power);
  // What is missing in t goes to the smallest of the terms: added to t it would be rounded once more.
  const V product = hn::Mul(factor, hn::Mul(t, p));
  const V rest = hn::MulAdd(product, value, hn::Mul(factor, hn::Mul(missing, p)));
  return hn::IfThenElse(hn::IsNaN(a), a, scale_by_power(d, hn::Add(product, rest), power));
}

/// erf(x) for |x| <= 1.
template <class D, class V>
HWY_INLINE V erf_of_small(D d, V x) {
  return hn::Mul(x, polynomial(d, hn::Mul(x, x), 1.12837916584835095F, -0.37612626666720331F, 0.112835947151602177F,
                               -0.0268542120106264124F, 0.00518908742343397399F, -0.000801686428716586953F,
                               0.0000787587506268548834F));
}

template <class D, class V>
HWY_INLINE V erf_of(D d, V x) {
  const V a = hn::Abs(x);
  const V beyond = scaled_tail(d, hn::Mul(a, hn::Set(d, 1.41421356F)), hn::Set(d, -2.0F));
  const V large = hn::CopySign(hn::Add(hn::Set(d, 1.0F), beyond), x);
  return hn::IfThenElse(hn::Gt(a, hn::Set(d, 1.0F)), large, erf_of_small(d, x));  // NaN: small
}

template <class D, class V>
HWY_INLINE V gelu_of(D d, V x) {
  const V a = hn::Abs(x);
  const V half = hn::Set(d, 0.5F);
  const V tail = scaled_tail(d, a, x);
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V large = hn::IfThenElse(negative, tail, hn::Sub(x, tail));
  // erf(x / sqrt(2)) / 2 as x times a polynomial: the factors are in its coefficients.
  const V part = polynomial(d, hn::Mul(x, x), 0.398942279960494417F, -0.0664903584356897892F, 0.00997338292406309973F,
                            -0.00118679971350844774F, 0.000114663715789999765F, -8.85746734579256865e-06F,
                            4.35084739422104193e-07F);
  const V small = hn::Mul(x, hn::MulAdd(x, part, half));
  const V far = hn::IfThenElse(negative, hn::Set(d, -0.0F), x);
  // Towards minus one the two halves cancel each other out.
  const V near = hn::IfThenElse(hn::Gt(a, hn::Set(d, 0.9F)), large, small);  // NaN: small
  return hn::IfThenElse(hn::Gt(a, hn::Set(d, 15.5F)), far, near);
}

/// x * sigmoid(y). At minus infinity 0, not NaN.
template <class D, class V>
HWY_INLINE V gated(D d, V x, V y) {
  const V result = hn::Mul(x, sigmoid_of(d, y));
  return hn::IfThenElse(hn::Eq(hn::Abs(x), hn::Inf(d)), hn::IfThenElse(hn::Lt(y, hn::Zero(d)), hn::Zero(d), x), result);
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
template <class D, class V>
HWY_INLINE V gelu_tanh_of(D d, V x) {
  const V cubic = hn::MulAdd(hn::Mul(hn::Set(d, 0.0713548163F), hn::Mul(x, x)), x, hn::Mul(hn::Set(d, 1.59576912F), x));
  return gated(d, x, cubic);
}

/// x * tanh(softplus(x)) = x * n / (n + 2), n = e (e + 2), e = exp(x).
template <class D, class V>
HWY_INLINE V mish_of(D d, V x) {
  const V e = exp_of(d, hn::Min(x, hn::Set(d, 30.0F)));
  const V n = hn::Mul(e, hn::Add(e, hn::Set(d, 2.0F)));
  const V y = hn::Mul(x, hn::Div(n, hn::Add(n, hn::Set(d, 2.0F))));
  const V ends = hn::IfThenElse(hn::Lt(x, hn::Set(d, -150.0F)), hn::Zero(d), y);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 20.0F)), x, hn::IfThenElse(hn::IsNaN(x), x, ends));
}

/// x < 0 ? alpha * (exp(x) - 1) : x. What expm1_of does for numbers that are not negative is left out.
template <class D, class V>
HWY_INLINE V elu_of(D d, V x, V alpha) {
  const hn::RebindToSigned<D> di;
  V rest;
  const V power = reduce_by_ln2(d, hn::Max(x, hn::Set(d, -18.0F)), &rest);
  const V scale = power_of_two(d, hn::ConvertTo(di, power));
  const V below = hn::MulAdd(scale, expm1_reduced(d, rest), hn::Sub(scale, hn::Set(d, 1.0F)));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(alpha, below), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#endif
