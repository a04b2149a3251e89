// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

namespace leapp::bundle {

/// One tensor of a safetensors file. The bytes are dense, row-major and little-endian; they are the caller's.
struct TensorEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// "F32", "BOOL", ...; nothing for the complex types the format lacks.
[[nodiscard]] std::optional<std::string_view> safetensors_dtype(DType dtype);
[[nodiscard]] std::optional<DType> parse_safetensors_dtype(std::string_view name);

/// The bytes of a safetensors file. The order of `entries` does not matter: the header is sorted by name, the data by
/// element size and name, so that every tensor is aligned to its elements without holes. kInvalidArgument for a name
/// that occurs twice, is not UTF-8 or is "__metadata__", for a dtype the format lacks, and for a shape that does not
/// match the bytes.
Result<std::vector<std::byte>> safetensors_bytes(std::span<const TensorEntry> entries);

}  // namespace leapp::bundle
