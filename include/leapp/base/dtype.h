// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "leapp/base/export.h"

namespace leapp {

/// Element types. Ports of a bundle use the first ten (is_port_dtype); the others occur inside a node only.
enum class DType : std::uint8_t {
  kFloat16,
  kFloat32,
  kFloat64,
  kBFloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kBool,
  kUInt16,
  kUInt32,
  kUInt64,
  kComplex32,
  kComplex64,
  kComplex128,
  kFloat8E4M3FN,
  kFloat8E5M2,
};

/// "float32", "bool", ...: the spelling of bundles and of the graph's text form.
[[nodiscard]] LEAPP_API std::string_view dtype_name(DType dtype);
[[nodiscard]] LEAPP_API std::optional<DType> parse_dtype(std::string_view name);
[[nodiscard]] LEAPP_API std::size_t dtype_size(DType dtype);
[[nodiscard]] LEAPP_API bool is_port_dtype(DType dtype);

}  // namespace leapp
