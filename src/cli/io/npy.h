// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cli/io/arrays.h"
#include "leapp/base/status.h"

namespace leapp::cli {

/// What NumPy's .npy holds (format 1 to 3): either byte order, C or Fortran order; the result is dense, row-major and
/// little-endian. kDataLoss for anything else: objects, records, text, a size that does not match.
Result<Array> parse_npy(std::span<const std::byte> file);

/// kInvalidArgument for a dtype that NumPy lacks (bfloat16).
Result<std::vector<std::byte>> npy_bytes(const Array& array);

struct NpzOptions {
  /// Asked with an array's name, dtype and shape before it is read: false leaves it out, a Status ends it all.
  std::function<Result<bool>(const ArrayType&)> wants;
  std::uint64_t memory_limit = std::uint64_t{8} << 30U;  ///< what the arrays may need together
};

/// An .npz: one .npy for each array, named after it. Of an array that is not wanted, or is too large, no more is read
/// than the beginning: kInvalidArgument for those, with the numbers.
Result<std::vector<Array>> parse_npz(std::span<const std::byte> file, const NpzOptions& options = {});
Result<std::vector<std::byte>> npz_bytes(std::span<const Array> arrays, bool deflated);

}  // namespace leapp::cli
