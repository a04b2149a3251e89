// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types as C++ types, and what one becomes as another.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "leapp/base/dtype.h"

namespace leapp::native {

struct Half {
  std::uint16_t bits = 0;
};
struct BFloat {
  std::uint16_t bits = 0;
};

/// Whatever the flushing of denormals is set to.
[[nodiscard]] inline float widen(Half half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (half.bits >> 10U) & 0x1FU;
  std::uint32_t mantissa = half.bits & 0x3FFU;
  if (exponent == 0x1FU) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
  if (mantissa == 0) return std::bit_cast<float>(sign);
  std::uint32_t shift = 0;
  for (; (mantissa & 0x400U) == 0; mantissa <<= 1U) ++shift;
  return std::bit_cast<float>(sign | ((113U - shift) << 23U) | ((mantissa & 0x3FFU) << 13U));
}
[[nodiscard]] inline float widen(BFloat number) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(number.bits) << 16U);
}

/// To the nearest, ties to even.
[[nodiscard]] inline BFloat to_bfloat(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return {static_cast<std::uint16_t>((bits >> 16U) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U)};
}
[[nodiscard]] inline Half to_half(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return {static_cast<std::uint16_t>(sign | 0x7E00U)};
  if (magnitude >= 0x477FF000U) return {static_cast<std::uint16_t>(sign | 0x7C00U)};  // from 65520 on
  if (magnitude < 0x33000001U) return {static_cast<std::uint16_t>(sign)};             // up to 2^-25
  std::uint32_t exponent = magnitude >> 23U;
  std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
  std::uint32_t shift = 13;
  if (exponent < 113U) shift += 113U - exponent;
  const std::uint32_t half = 1U << (shift - 1U);
  const std::uint32_t rest = mantissa & ((1U << shift) - 1U);
  mantissa >>= shift;
  if (rest > half || (rest == half && (mantissa & 1U) != 0)) ++mantissa;
  // The hidden bit, or a carry into it, moves the exponent by itself.
  const std::uint32_t base = exponent < 113U ? 0U : (exponent - 113U) << 10U;
  return {static_cast<std::uint16_t>(sign | (base + mantissa))};
}

/// Floats to integers as x86 does it, but the same everywhere: what does not fit becomes the lowest number.
template <typename To, typename From>
[[nodiscard]] inline To truncated(From number) noexcept {
  using Wide = std::conditional_t<(sizeof(To) < 4 || std::is_same_v<To, std::int32_t>), std::int32_t, std::int64_t>;
  constexpr auto kLow = static_cast<From>(std::numeric_limits<Wide>::min());
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    if (number >= From{9223372036854775808.0} && number < From{18446744073709551616.0}) {
      return static_cast<std::uint64_t>(number);
    }
  }
  if (number >= kLow && number < -kLow) return static_cast<To>(static_cast<Wide>(number));
  return static_cast<To>(std::numeric_limits<Wide>::min());
}

template <typename To, typename From>
[[nodiscard]] inline To convert(From number) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return number;
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat>) {
    return convert<To>(widen(number));
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<float>(number));
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return to_bfloat(static_cast<float>(number));
  } else if constexpr (std::is_same_v<To, bool>) {
    return number != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncated<To>(number);
  } else {
    return static_cast<To>(number);
  }
}

template <typename T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<T>) with the type of the elements. False: nothing here knows them.
template <typename F>
bool visit_dtype(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat16:
      return f(TypeTag<Half>{}), true;
    case DType::kFloat32:
      return f(TypeTag<float>{}), true;
    case DType::kFloat64:
      return f(TypeTag<double>{}), true;
    case DType::kBFloat16:
      return f(TypeTag<BFloat>{}), true;
    case DType::kInt8:
      return f(TypeTag<std::int8_t>{}), true;
    case DType::kInt16:
      return f(TypeTag<std::int16_t>{}), true;
    case DType::kInt32:
      return f(TypeTag<std::int32_t>{}), true;
    case DType::kInt64:
      return f(TypeTag<std::int64_t>{}), true;
    case DType::kUInt8:
      return f(TypeTag<std::uint8_t>{}), true;
    case DType::kBool:
      return f(TypeTag<bool>{}), true;
    case DType::kUInt16:
      return f(TypeTag<std::uint16_t>{}), true;
    case DType::kUInt32:
      return f(TypeTag<std::uint32_t>{}), true;
    case DType::kUInt64:
      return f(TypeTag<std::uint64_t>{}), true;
    default:
      return false;
  }
}

/// The same for the types that C++ calculates with: all but bool and the 16-bit floats.
template <typename F>
bool visit_arithmetic(DType dtype, F f) {
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kBool) return false;
  return visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) f(tag);
  });
}

}  // namespace leapp::native
