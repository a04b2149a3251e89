// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cli/io/npy.h"

/// Any bytes end in an error, or in arrays that hold what their shape says, also after they were written and read
/// again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto arrays = leapp::cli::parse_npz(std::as_bytes(std::span(data, size)));
  if (!arrays.ok()) return 0;
  for (const leapp::cli::Array& array : arrays.value()) {
    const leapp::cli::ArrayType type{array.name, array.dtype, array.shape};
    if (type.bytes() != array.bytes.size()) std::abort();
    const auto again = leapp::cli::parse_npy(leapp::cli::npy_bytes(array).value());
    if (!again.ok() || again.value().bytes != array.bytes || again.value().shape != array.shape) std::abort();
  }
  return 0;
}
