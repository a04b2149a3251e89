// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types as C++ types, and what one becomes as another.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "engine/native/kernels/storage.h"
#include "leapp/base/dtype.h"

namespace leapp::native {

struct Half {
  std::uint16_t bits = 0;
};
struct BFloat {
  std::uint16_t bits = 0;
};

/// Whatever the flushing of denormals is set to.
[[nodiscard]] inline float widen(Half half) noexcept { return widen_float16(half.bits); }
[[nodiscard]] inline float widen(BFloat number) noexcept { return widen_bfloat16(number.bits); }

/// To the nearest, ties to even.
[[nodiscard]] inline BFloat to_bfloat(float number) noexcept { return {narrow_bfloat16(number)}; }
[[nodiscard]] inline Half to_half(float number) noexcept { return {narrow_float16(number)}; }

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

/// Element `i` of what may come from strangers: not aligned, and a bool need not be 0 or 1.
template <typename T>
[[nodiscard]] inline T element(std::span<const std::byte> bytes, std::size_t i) noexcept {
  std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> number{};
  std::memcpy(&number, bytes.data() + i * sizeof(number), sizeof(number));
  if constexpr (std::is_same_v<T, bool>) return number != 0;
  return number;
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
