// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

/// Files with a row of values for each of several ports: .npz, .safetensors, .csv. The first axis is the step.
namespace leapp::cli {

/// A tensor with its memory: dense, row-major, little-endian.
struct Array {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// What one step of a port looks like.
struct ArrayType {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;

  [[nodiscard]] std::size_t elements() const;
  [[nodiscard]] std::size_t bytes() const { return elements() * dtype_size(dtype); }
};

/// The values of one port: of `steps` steps, or one that holds for all of them.
struct Series {
  const ArrayType* type = nullptr;
  std::size_t steps = 1;
  bool held = false;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::span<const std::byte> step(std::size_t number) const {
    return std::span(bytes).subspan(held ? 0 : number * type->bytes(), type->bytes());
  }
};

/// Says which port a name in a file means: null for one that is of no interest, a Status for one that is wrong.
using FindType = std::function<Result<const ArrayType*>(const std::string& name)>;

struct ReadOptions {
  FindType find;
  bool cast = false;  ///< other dtypes are converted, not refused
  std::uint64_t memory_limit = std::uint64_t{8}
                               << 30U;  ///< the file, and its arrays together, may have that many bytes
};

/// The ports in a file, each at most once; the suffix says what kind of file it is. In .npz and .safetensors files a
/// port of shape [1,4] may have [N,1,4], [N,4] (leading ones left out) or [1,4], which holds for all steps. A message
/// names the file, the port or line, what was expected and what was found.
Result<std::vector<Series>> read_series(const std::filesystem::path& path, const ReadOptions& options);

/// Ok when the suffix is one we know and the file could be written: asked before anything is computed.
Status check_writable(const std::filesystem::path& path);

/// `deflated`: .npz members are compressed.
Status write_arrays(const std::filesystem::path& path, std::span<const Array> arrays, bool deflated);

}  // namespace leapp::cli
