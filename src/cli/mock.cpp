// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/mock.h"

#include "cli/numbers.h"

namespace leapp::cli {

MockSource::MockSource(std::uint64_t seed, const std::string& port) : state_(seed) {
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

void MockSource::fill(const TensorView& view) {
  const std::size_t width = dtype_size(view.dtype);
  auto* element = static_cast<std::byte*>(view.data);
  for (std::size_t i = 0; i < view.size(); ++i, element += width) {
    const std::uint64_t bits = next() >> 40U;  // 24 of them, which a float32 holds exactly
    const double value =
        is_floating(view.dtype) ? static_cast<double>(bits) / (1U << 23U) - 1 : static_cast<double>(bits & 1U);
    // Cannot fail: every dtype of a port holds 0, 1 and, if it is a float, the rest.
    (void)convert_element({DType::kFloat64, reinterpret_cast<const std::byte*>(&value)}, view.dtype, element);
  }
}

}  // namespace leapp::cli
