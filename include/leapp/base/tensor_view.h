// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

namespace leapp {

/// Whether elements of `dtype` are read and written as T: float, double, std::int8_t to std::int64_t, std::uint8_t,
/// bool; float16 and bfloat16 as the std::uint16_t of their bits.
template <typename T>
[[nodiscard]] constexpr bool holds(DType dtype) {
  using Element = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Element, float>) return dtype == DType::kFloat32;
  if constexpr (std::is_same_v<Element, double>) return dtype == DType::kFloat64;
  if constexpr (std::is_same_v<Element, std::int8_t>) return dtype == DType::kInt8;
  if constexpr (std::is_same_v<Element, std::int16_t>) return dtype == DType::kInt16;
  if constexpr (std::is_same_v<Element, std::int32_t>) return dtype == DType::kInt32;
  if constexpr (std::is_same_v<Element, std::int64_t>) return dtype == DType::kInt64;
  if constexpr (std::is_same_v<Element, std::uint8_t>) return dtype == DType::kUInt8;
  if constexpr (std::is_same_v<Element, bool>) return dtype == DType::kBool;
  if constexpr (std::is_same_v<Element, std::uint16_t>) return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return false;
}

/// A dense, row-major tensor in memory that belongs to someone else.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> shape;

  /// Number of elements.
  [[nodiscard]] std::size_t size() const {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    return count;
  }

  /// The elements; kWrongType when they are no T.
  template <typename T>
  [[nodiscard]] Result<std::span<T>> as() const {
    if (!holds<T>(dtype)) return wrong_type("the tensor's dtype does not match the type it is asked for as");
    return std::span<T>(static_cast<T*>(data), size());
  }
};

}  // namespace leapp
