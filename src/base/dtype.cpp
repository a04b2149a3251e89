// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/base/dtype.h"

#include <array>
#include <cstdlib>

#include "leapp/base/export.h"

namespace leapp {
namespace {

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

// In the order of the enum, so that a DType is its own index; the static_assert below checks it.
constexpr std::array<DTypeInfo, 18> kDTypes{{
    {DType::kFloat16, "float16", 2},
    {DType::kFloat32, "float32", 4},
    {DType::kFloat64, "float64", 8},
    {DType::kBFloat16, "bfloat16", 2},
    {DType::kInt8, "int8", 1},
    {DType::kInt16, "int16", 2},
    {DType::kInt32, "int32", 4},
    {DType::kInt64, "int64", 8},
    {DType::kUInt8, "uint8", 1},
    {DType::kBool, "bool", 1},
    {DType::kUInt16, "uint16", 2},
    {DType::kUInt32, "uint32", 4},
    {DType::kUInt64, "uint64", 8},
    {DType::kComplex32, "complex32", 4},
    {DType::kComplex64, "complex64", 8},
    {DType::kComplex128, "complex128", 16},
    {DType::kFloat8E4M3FN, "float8_e4m3fn", 1},
    {DType::kFloat8E5M2, "float8_e5m2", 1},
}};

constexpr bool table_follows_enum() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (static_cast<std::size_t>(kDTypes[i].dtype) != i) return false;
  }
  return true;
}
static_assert(table_follows_enum());
static_assert(kDTypes.back().dtype == DType::kFloat8E5M2, "a DType was added: add its row");

const DTypeInfo& info(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  if (index >= kDTypes.size()) std::abort();
  return kDTypes[index];
}

}  // namespace

// Public, and so seen from outside the runtime library.
LEAPP_API std::string_view dtype_name(DType dtype) { return info(dtype).name; }

LEAPP_API std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeInfo& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

LEAPP_API std::size_t dtype_size(DType dtype) { return info(dtype).size; }

LEAPP_API bool is_port_dtype(DType dtype) { return dtype <= DType::kBool; }

}  // namespace leapp
