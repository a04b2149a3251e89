// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/dtypes.h"

#include <array>
#include <utility>

#include "capture/op_info.h"

namespace leapp::capture {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 18> kPairs = {{
    {DType::kFloat16, at::kHalf},
    {DType::kFloat32, at::kFloat},
    {DType::kFloat64, at::kDouble},
    {DType::kBFloat16, at::kBFloat16},
    {DType::kInt8, at::kChar},
    {DType::kInt16, at::kShort},
    {DType::kInt32, at::kInt},
    {DType::kInt64, at::kLong},
    {DType::kUInt8, at::kByte},
    {DType::kBool, at::kBool},
    {DType::kUInt16, at::ScalarType::UInt16},
    {DType::kUInt32, at::ScalarType::UInt32},
    {DType::kUInt64, at::ScalarType::UInt64},
    {DType::kComplex32, at::kComplexHalf},
    {DType::kComplex64, at::kComplexFloat},
    {DType::kComplex128, at::kComplexDouble},
    {DType::kFloat8E4M3FN, at::ScalarType::Float8_e4m3fn},
    {DType::kFloat8E5M2, at::ScalarType::Float8_e5m2},
}};

}  // namespace

std::optional<DType> to_dtype(at::ScalarType type) {
  for (const auto& [dtype, scalar] : kPairs) {
    if (scalar == type) return dtype;
  }
  return std::nullopt;
}

at::ScalarType to_scalar_type(DType dtype) {
  for (const auto& [candidate, scalar] : kPairs) {
    if (candidate == dtype) return scalar;
  }
  return at::ScalarType::Undefined;
}

std::string dtype_text(at::ScalarType dtype) {
  const auto known = to_dtype(dtype);
  return known ? std::string(dtype_name(*known)) : c10::toString(dtype);
}

}  // namespace leapp::capture
