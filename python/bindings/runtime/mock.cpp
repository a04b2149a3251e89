// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "mock.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace leapp::python {
namespace {

/// Box and Muller's: the standard library's distributions differ from one library to the next.
double normal(std::mt19937_64& generator) {
  const double first = (static_cast<double>(generator() >> 11U) + 0.5) * 0x1p-53;
  const double second = static_cast<double>(generator() >> 11U) * 0x1p-53;
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second);
}

/// Rounds towards zero. Good for |value| from 2^-14 to 65504; smaller ones become zero.
std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  constexpr std::uint32_t kSmallest = 0x38800000;  // 2^-14
  if (magnitude < kSmallest) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U) >> 13U));
}

template <typename T>
void put(void* data, std::size_t at, T value) {
  std::memcpy(static_cast<std::byte*>(data) + at * sizeof(T), &value, sizeof(T));
}

}  // namespace

void fill_random(DType dtype, void* data, std::size_t count, std::mt19937_64& generator) {
  const std::size_t width = dtype_size(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    switch (dtype) {
      case DType::kFloat64:
        put(data, i, normal(generator));
        break;
      case DType::kFloat32:
        put(data, i, static_cast<float>(normal(generator)));
        break;
      case DType::kFloat16:
        put(data, i, to_half(static_cast<float>(normal(generator))));
        break;
      case DType::kBFloat16:
        put(data, i,
            static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(normal(generator))) >> 16U));
        break;
      default: {
        const std::uint64_t bit = generator() >> 63U;  // little-endian, whatever the width
        std::memcpy(static_cast<std::byte*>(data) + i * width, &bit, width);
      }
    }
  }
}

}  // namespace leapp::python
