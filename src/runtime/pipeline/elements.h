// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements of any dtype of a port as numbers. Nothing here allocates.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/native/scalar/numbers.h"
#include "leapp/base/dtype.h"

namespace leapp::runtime {

/// Calls f with a null pointer of the elements' type. REQUIRES: is_port_dtype(dtype).
template <typename Call>
decltype(auto) with_element(DType dtype, Call f) {
  switch (dtype) {
    case DType::kFloat16:
      return f(static_cast<native::Half*>(nullptr));
    case DType::kBFloat16:
      return f(static_cast<native::BFloat*>(nullptr));
    case DType::kFloat64:
      return f(static_cast<double*>(nullptr));
    case DType::kInt8:
      return f(static_cast<std::int8_t*>(nullptr));
    case DType::kInt16:
      return f(static_cast<std::int16_t*>(nullptr));
    case DType::kInt32:
      return f(static_cast<std::int32_t*>(nullptr));
    case DType::kInt64:
      return f(static_cast<std::int64_t*>(nullptr));
    case DType::kUInt8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case DType::kBool:
      return f(static_cast<bool*>(nullptr));
    default:
      return f(static_cast<float*>(nullptr));
  }
}

template <typename Element>
[[nodiscard]] inline double to_number(Element element) noexcept {
  if constexpr (std::is_same_v<Element, native::Half> || std::is_same_v<Element, native::BFloat>) {
    return native::widen(element);
  } else {
    return static_cast<double>(element);
  }
}

/// Whole numbers: the nearest, ties to even; the least or greatest where it does not fit; NaN is 0. bool: not zero.
template <typename Element>
[[nodiscard]] inline Element from_number(double number) noexcept {
  if constexpr (std::is_same_v<Element, native::Half>) {
    return native::to_half(static_cast<float>(number));
  } else if constexpr (std::is_same_v<Element, native::BFloat>) {
    return native::to_bfloat(static_cast<float>(number));
  } else if constexpr (std::is_same_v<Element, bool>) {
    return number != 0;
  } else if constexpr (std::is_integral_v<Element>) {
    constexpr auto kLow = std::numeric_limits<Element>::lowest();
    constexpr auto kHigh = std::numeric_limits<Element>::max();
    if (std::isnan(number)) return 0;
    const double whole = std::nearbyint(number);
    if (whole <= static_cast<double>(kLow)) return kLow;
    return whole >= static_cast<double>(kHigh) ? kHigh : static_cast<Element>(whole);
  } else {
    return static_cast<Element>(number);
  }
}

[[nodiscard]] inline double load_element(DType dtype, const void* data, std::size_t at) noexcept {
  return with_element(dtype, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    return to_number(static_cast<const Element*>(data)[at]);
  });
}

inline void store_element(DType dtype, void* data, std::size_t at, double number) noexcept {
  with_element(dtype, [&](auto* type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    static_cast<Element*>(data)[at] = from_number<Element>(number);
  });
}

}  // namespace leapp::runtime
