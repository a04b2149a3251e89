// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/scalar/elementwise.h"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

using kernels::Binary;
using kernels::Unary;

/// Calls f(a, b, c, y) with the places of the operands of every element, in elements; ends when f says false.
template <typename F>
bool walk(const Walk& args, F f) noexcept {
  std::int64_t at[kMaxRank] = {};
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  std::int64_t y = 0;
  const int last = args.rank - 1;
  while (true) {
    for (std::int64_t i = 0; i < args.shape[last]; ++i) {
      if (!f(a + i * args.a_stride[last], b + i * args.b_stride[last], c + i * args.c_stride[last], y + i))
        return false;
    }
    y += args.shape[last];
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      a += args.a_stride[axis];
      b += args.b_stride[axis];
      c += args.c_stride[axis];
      if (++at[axis] < args.shape[axis]) break;
      a -= args.a_stride[axis] * args.shape[axis];
      b -= args.b_stride[axis] * args.shape[axis];
      c -= args.c_stride[axis] * args.shape[axis];
      at[axis] = 0;
    }
    if (axis < 0) return true;
  }
}

template <typename T, typename R, typename F>
bool each(const Walk& args, F f) noexcept {
  const auto* a = static_cast<const T*>(args.a);
  const auto* b = static_cast<const T*>(args.b);
  auto* y = static_cast<R*>(args.y);
  return walk(args, [&](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t k) {
    y[k] = f(a[i], b[j]);
    return true;
  });
}

/// Integers wrap around, as those of tensors do.
template <typename T>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), std::int32_t, T>>;

template <typename T, typename F>
T wrapped(T a, T b, F f) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return f(a, b);
  } else {
    return static_cast<T>(f(static_cast<Wrapping<T>>(a), static_cast<Wrapping<T>>(b)));
  }
}

template <typename T>
T negated(T x) noexcept {
  if constexpr (std::is_floating_point_v<T>) return -x;
  return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x));
}

template <typename T>
T power(T base, T exponent) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(base, exponent);
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < 0) return base == T{1} ? T{1} : base == T{-1} ? (exponent % 2 == 0 ? T{1} : T{-1}) : T{0};
    }
    Wrapping<T> result = 1;
    auto factor = static_cast<Wrapping<T>>(base);
    for (auto rest = static_cast<Wrapping<T>>(exponent); rest != 0; rest >>= 1U) {
      if ((rest & 1U) != 0) result *= factor;
      factor *= factor;
    }
    return static_cast<T>(result);
  }
}

template <typename T>
T larger(T a, T b, bool maximum) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return maximum == (a > b) ? a : b;
}

/// Division and remainder of integers: false when the divisor is 0.
template <typename T>
bool divide(const Walk& args, bool remainder, bool floored) noexcept {
  const auto* a = static_cast<const T*>(args.a);
  const auto* b = static_cast<const T*>(args.b);
  auto* y = static_cast<T*>(args.y);
  return walk(args, [&](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t k) {
    const T x = a[i];
    const T divisor = b[j];
    if (divisor == 0) return false;
    if constexpr (std::is_signed_v<T>) {
      if (divisor == T{-1}) {  // the lowest number has no opposite
        y[k] = remainder ? T{0} : negated(x);
        return true;
      }
    }
    if (!remainder) {
      y[k] = static_cast<T>(x / divisor);
      return true;
    }
    T rest = static_cast<T>(x % divisor);
    if (floored && rest != 0 && (rest < 0) != (divisor < 0)) rest = static_cast<T>(rest + divisor);
    y[k] = rest;
    return true;
  });
}

template <typename T>
bool binary(const Walk& args) noexcept {
  switch (static_cast<Binary>(args.function)) {
    case Binary::kAdd:
      return each<T, T>(args, [](T a, T b) { return wrapped(a, b, [](auto p, auto q) { return p + q; }); });
    case Binary::kSub:
      return each<T, T>(args, [](T a, T b) { return wrapped(a, b, [](auto p, auto q) { return p - q; }); });
    case Binary::kMul:
      return each<T, T>(args, [](T a, T b) { return wrapped(a, b, [](auto p, auto q) { return p * q; }); });
    case Binary::kDiv:
      if constexpr (std::is_floating_point_v<T>) return each<T, T>(args, [](T a, T b) { return a / b; });
      if constexpr (std::is_integral_v<T>) return divide<T>(args, false, false);
      return false;
    case Binary::kFmod:  // of integers: alpha says whether the result has the sign of the divisor
      if constexpr (std::is_floating_point_v<T>) return each<T, T>(args, [](T a, T b) { return std::fmod(a, b); });
      if constexpr (std::is_integral_v<T>) return divide<T>(args, true, args.alpha != 0);
      return false;
    case Binary::kPow:
      return each<T, T>(args, [](T a, T b) { return power(a, b); });
    case Binary::kMax:
      return each<T, T>(args, [](T a, T b) { return larger(a, b, true); });
    case Binary::kMin:
      return each<T, T>(args, [](T a, T b) { return larger(a, b, false); });
    case Binary::kPRelu:
      return each<T, T>(args, [](T a, T b) { return a < 0 ? wrapped(a, b, [](auto p, auto q) { return p * q; }) : a; });
    case Binary::kEqual:
      return each<T, bool>(args, [](T a, T b) { return a == b; });
    case Binary::kLess:
      return each<T, bool>(args, [](T a, T b) { return a < b; });
    case Binary::kLessOrEqual:
      return each<T, bool>(args, [](T a, T b) { return a <= b; });
    case Binary::kGreater:
      return each<T, bool>(args, [](T a, T b) { return a > b; });
    case Binary::kGreaterOrEqual:
      return each<T, bool>(args, [](T a, T b) { return a >= b; });
    default:
      return false;
  }
}

template <typename T>
bool bits(const Walk& args) noexcept {
  using Unsigned = std::make_unsigned_t<T>;
  const auto shifted = [](T a, T b, bool left) {
    const auto count = static_cast<std::uint64_t>(static_cast<Unsigned>(b));
    if (count >= sizeof(T) * 8) return T{0};
    const auto number = static_cast<std::uint64_t>(static_cast<Unsigned>(a));
    return static_cast<T>(left ? number << count : number >> count);
  };
  switch (static_cast<Bits>(args.function)) {
    case Bits::kAnd:
      return each<T, T>(args, [](T a, T b) { return static_cast<T>(a & b); });
    case Bits::kOr:
      return each<T, T>(args, [](T a, T b) { return static_cast<T>(a | b); });
    case Bits::kXor:
      return each<T, T>(args, [](T a, T b) { return static_cast<T>(a ^ b); });
    case Bits::kNot:
      return each<T, T>(args, [](T a, T) { return static_cast<T>(~a); });
    case Bits::kShiftLeft:
      return each<T, T>(args, [&](T a, T b) { return shifted(a, b, true); });
    case Bits::kShiftRight:
      return each<T, T>(args, [&](T a, T b) { return shifted(a, b, false); });
  }
  return false;
}

template <typename T>
bool unary(const Walk& args) noexcept {
  const auto function = static_cast<Unary>(args.function);
  if (function == Unary::kIsNaN || function == Unary::kIsInf) {
    return each<T, bool>(
        args, [&](T a, T) { return evaluate(function, static_cast<double>(a), args.alpha, args.beta) != 0; });
  }
  if constexpr (std::is_floating_point_v<T>) {
    return each<T, T>(args, [&](T a, T) { return static_cast<T>(evaluate(function, a, args.alpha, args.beta)); });
  } else {
    switch (function) {
      case Unary::kAbs:
        return each<T, T>(args, [](T a, T) { return a < 0 ? negated(a) : a; });
      case Unary::kNeg:
        return each<T, T>(args, [](T a, T) { return negated(a); });
      case Unary::kSign:
        return each<T, T>(args, [](T a, T) { return static_cast<T>((a > 0) - (a < 0)); });
      case Unary::kRelu:
        return each<T, T>(args, [](T a, T) { return a > 0 ? a : T{0}; });
      default:
        return false;
    }
  }
}

template <typename T>
bool choose(const Walk& args) noexcept {
  const auto* condition = static_cast<const std::uint8_t*>(args.a);
  const auto* b = static_cast<const T*>(args.b);
  const auto* c = static_cast<const T*>(args.c);
  auto* y = static_cast<T*>(args.y);
  return walk(args, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t to) {
    y[to] = condition[i] != 0 ? b[j] : c[k];
    return true;
  });
}

constexpr const char* kDivisionByZero = "an integer was divided by 0";

template <typename T>
inline constexpr Kernel kUnaryKernel = kernel_of<&unary<T>>("scalar unary", "no such function");
template <typename T>
inline constexpr Kernel kBinaryKernel = kernel_of<&binary<T>>("scalar binary", kDivisionByZero);
template <typename T>
inline constexpr Kernel kBitsKernel = kernel_of<&bits<T>>("scalar bits", "no such function");
template <typename T>
inline constexpr Kernel kChooseKernel = kernel_of<&choose<T>>("scalar where", "");

double gelu(double x) { return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440)); }

}  // namespace

double evaluate(Unary function, double x, double alpha, double beta) noexcept {
  switch (function) {
    case Unary::kIdentity:
      return x;
    case Unary::kAbs:
      return std::fabs(x);
    case Unary::kNeg:
      return -x;
    case Unary::kExp:
      return std::exp(x);
    case Unary::kLog:
      return std::log(x);
    case Unary::kSqrt:
      return std::sqrt(x);
    case Unary::kReciprocal:
      return 1 / x;
    case Unary::kFloor:
      return std::floor(x);
    case Unary::kCeil:
      return std::ceil(x);
    case Unary::kRound:
      return std::nearbyint(x);
    case Unary::kSign:
      return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
    case Unary::kSin:
      return std::sin(x);
    case Unary::kCos:
      return std::cos(x);
    case Unary::kTan:
      return std::tan(x);
    case Unary::kAsin:
      return std::asin(x);
    case Unary::kAcos:
      return std::acos(x);
    case Unary::kAtan:
      return std::atan(x);
    case Unary::kSinh:
      return std::sinh(x);
    case Unary::kCosh:
      return std::cosh(x);
    case Unary::kTanh:
      return std::tanh(x);
    case Unary::kAsinh:
      return std::asinh(x);
    case Unary::kAcosh:
      return std::acosh(x);
    case Unary::kAtanh:
      return std::atanh(x);
    case Unary::kSigmoid:
      return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    case Unary::kErf:
      return std::erf(x);
    case Unary::kRelu:
      return x > 0 || std::isnan(x) ? x : 0;
    case Unary::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Unary::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Unary::kSelu:
      return x > 0 ? beta * x : beta * (alpha * std::exp(x) - alpha);
    case Unary::kCelu:
      return std::fmax(0, x) + std::fmin(0, alpha * std::expm1(x / alpha));
    case Unary::kThresholdedRelu:
      return x > alpha ? x : 0;
    case Unary::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Unary::kSoftsign:
      return x / (1 + std::fabs(x));
    case Unary::kHardSigmoid:
      return std::fmax(0, std::fmin(1, alpha * x + beta));
    case Unary::kHardSwish:
      return x * std::fmax(0, std::fmin(1, x / 6 + 0.5));
    case Unary::kMish:
      return x * std::tanh(evaluate(Unary::kSoftplus, x, 0, 0));
    case Unary::kGelu:
      return gelu(x);
    case Unary::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case Unary::kSwish:
      return x * evaluate(Unary::kSigmoid, alpha * x, 0, 0);
    case Unary::kClip:
      return std::isnan(x) ? x : std::fmin(std::fmax(x, alpha), beta);
    case Unary::kNot:
      return x == 0 ? 1 : 0;
    case Unary::kIsNaN:
      return std::isnan(x) ? 1 : 0;
    case Unary::kIsInf:
      return std::isinf(x) && (x > 0 ? alpha : beta) != 0 ? 1 : 0;
  }
  return x;
}

const Kernel* scalar_unary(Unary function, DType dtype) {
  const Kernel* kernel = nullptr;
  visit_arithmetic(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (std::is_floating_point_v<T> || function == Unary::kAbs || function == Unary::kNeg || function == Unary::kSign ||
        function == Unary::kRelu) {
      kernel = &kUnaryKernel<T>;
    }
  });
  return kernel;
}

const Kernel* scalar_binary(Binary function, DType dtype) {
  const Kernel* kernel = nullptr;
  if (function == Binary::kAnd || function == Binary::kOr || function == Binary::kXor) return nullptr;
  visit_arithmetic(dtype, [&](auto tag) { kernel = &kBinaryKernel<typename decltype(tag)::type>; });
  return kernel;
}

const Kernel* scalar_bits(Bits, DType dtype) {
  const Kernel* kernel = nullptr;
  visit_arithmetic(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) kernel = &kBitsKernel<T>;
  });
  return kernel;
}

const Kernel* scalar_select(DType dtype) {
  switch (dtype_size(dtype)) {
    case 1:
      return &kChooseKernel<std::uint8_t>;
    case 2:
      return &kChooseKernel<std::uint16_t>;
    case 4:
      return &kChooseKernel<std::uint32_t>;
    case 8:
      return &kChooseKernel<std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace leapp::native
