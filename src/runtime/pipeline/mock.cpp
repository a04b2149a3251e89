// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/mock.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>

#include "base/half.h"

namespace leapp::runtime {
namespace {

template <typename T>
void put(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

}  // namespace

MockSource::MockSource(std::uint64_t seed, std::string_view port) : state_(seed) {
  // FNV-1a of the name, so that ports differ.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : port) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  state_ ^= hash;
}

// SplitMix64.
std::uint64_t MockSource::next() {
  std::uint64_t bits = state_ += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31U);
}

// Box and Muller's: the standard library's distributions differ from one library to the next.
double MockSource::normal() {
  const double first = (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53;
  const double second = static_cast<double>(next() >> 11U) * 0x1p-53;
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second);
}

void MockSource::fill(const TensorView& view) {
  const std::size_t width = dtype_size(view.dtype);
  auto* element = static_cast<std::byte*>(view.data);
  for (std::size_t i = 0; i < view.size(); ++i, element += width) {
    switch (view.dtype) {
      case DType::kFloat64:
        put(element, normal());
        break;
      case DType::kFloat32:
        put(element, static_cast<float>(normal()));
        break;
      case DType::kFloat16:
        put(element, narrow_float16(normal()));
        break;
      case DType::kBFloat16:
        put(element, narrow_bfloat16(normal()));
        break;
      default: {
        const std::uint64_t bit = next() >> 63U;  // little-endian, whatever the width
        std::memcpy(element, &bit, width);
      }
    }
  }
}

}  // namespace leapp::runtime
