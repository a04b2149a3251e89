// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/kernels/storage.h"

#include <cstring>

#include "engine/native/kernels/array_math.h"

namespace leapp::native::kernels {

void load_as_float(const void* from, Storage storage, float* to, std::size_t n) noexcept {
  const auto* words = static_cast<const std::uint16_t*>(from);
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  switch (storage) {
    case Storage::kFloat32:
      std::memcpy(to, from, n * sizeof(float));
      return;
    case Storage::kFloat16:
      for (std::size_t i = 0; i < n; ++i) to[i] = widen_float16(words[i]);
      return;
    case Storage::kBFloat16:
      for (std::size_t i = 0; i < n; ++i) to[i] = widen_bfloat16(words[i]);
      return;
    case Storage::kBool:
      for (std::size_t i = 0; i < n; ++i) to[i] = bytes[i] != 0 ? 1.0F : 0.0F;
      return;
  }
}

void store_as(const float* from, Storage storage, void* to, std::size_t n) noexcept {
  auto* words = static_cast<std::uint16_t*>(to);
  auto* bytes = static_cast<std::uint8_t*>(to);
  switch (storage) {
    case Storage::kFloat32:
      std::memcpy(to, from, n * sizeof(float));
      return;
    case Storage::kFloat16:
      for (std::size_t i = 0; i < n; ++i) words[i] = narrow_float16(from[i]);
      return;
    case Storage::kBFloat16:
      for (std::size_t i = 0; i < n; ++i) words[i] = narrow_bfloat16(from[i]);
      return;
    case Storage::kBool:
      for (std::size_t i = 0; i < n; ++i) bytes[i] = from[i] != 0 ? 1 : 0;
      return;
  }
}

}  // namespace leapp::native::kernels
