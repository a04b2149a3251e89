// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cli/arrays.h"
#include "leapp/base/status.h"

namespace leapp::cli {

/// What NumPy's .npy holds (format 1 to 3): either byte order, C or Fortran order; the result is dense, row-major and
/// little-endian. kDataLoss for anything else: objects, records, text, a size that does not match.
Result<Array> parse_npy(std::span<const std::byte> file);

/// kInvalidArgument for a dtype that NumPy lacks (bfloat16).
Result<std::vector<std::byte>> npy_bytes(const Array& array);

/// An .npz: one .npy for each array, named after it.
Result<std::vector<Array>> parse_npz(std::span<const std::byte> file);
Result<std::vector<std::byte>> npz_bytes(std::span<const Array> arrays, bool deflated);

}  // namespace leapp::cli
