// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// float16 and bfloat16 by their bits, one at a time. Widening is exact, narrowing goes to the nearest, halves to even;
// NaN stays NaN, and what is too large becomes infinite. Kernels that convert many have vectors for it.
#pragma once

#include <bit>
#include <cstdint>

namespace leapp {

[[nodiscard]] inline float widen_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

[[nodiscard]] inline float widen_float16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 31U;
  const std::uint32_t mantissa = bits & 1023U;
  if (exponent == 0) {  // mantissa * 2^-24, exact and without denormals
    const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t widened = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | widened << 23U | mantissa << 13U);
}

[[nodiscard]] inline std::uint16_t narrow_bfloat16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

[[nodiscard]] inline std::uint16_t narrow_float16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000U) {
    result = 0x7e00U;
  } else if (magnitude >= 0x477ff000U) {  // from 65520 on
    result = 0x7c00U;
  } else if (magnitude >= 0x38800000U) {  // normal: rounding may carry into the exponent
    result = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13U & 1U)) >> 13U;
  } else if (magnitude > 0x33000000U) {  // above 2^-25: what is shifted out is rounded
    const std::uint32_t shift = 126U - (magnitude >> 23U);
    const std::uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
    const std::uint32_t kept = mantissa >> shift;
    const std::uint32_t rest = mantissa - (kept << shift);
    const std::uint32_t half = 1U << (shift - 1U);
    result = kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
  }
  return static_cast<std::uint16_t>(sign | result);
}

namespace detail {

/// The float next to `value` towards zero, with its last bit set if anything was cut off: rounding that again gives
/// what rounding `value` at once would.
[[nodiscard]] inline float round_to_odd(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || nearest != nearest) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool away = value < 0 ? back < value : back > value;
  if (away) --bits;
  return std::bit_cast<float>(bits | 1U);
}

}  // namespace detail

[[nodiscard]] inline std::uint16_t narrow_bfloat16(double value) noexcept {
  return narrow_bfloat16(detail::round_to_odd(value));
}

[[nodiscard]] inline std::uint16_t narrow_float16(double value) noexcept {
  return narrow_float16(detail::round_to_odd(value));
}

}  // namespace leapp
