// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/half.h"
#include "engine/native/kernels/kernels.h"

namespace leapp::native::kernels {

[[nodiscard]] constexpr std::size_t storage_size(Storage storage) noexcept {
  return storage == Storage::kFloat32 ? 4 : storage == Storage::kBool ? 1 : 2;
}

}  // namespace leapp::native::kernels
