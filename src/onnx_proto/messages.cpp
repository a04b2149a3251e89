// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/messages.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace leapp::onnx {
namespace {

constexpr std::array kDataTypes = {
    std::pair{DType::kFloat32, 1},       std::pair{DType::kUInt8, 2},       std::pair{DType::kInt8, 3},
    std::pair{DType::kUInt16, 4},        std::pair{DType::kInt16, 5},       std::pair{DType::kInt32, 6},
    std::pair{DType::kInt64, 7},         std::pair{DType::kBool, 9},        std::pair{DType::kFloat16, 10},
    std::pair{DType::kFloat64, 11},      std::pair{DType::kUInt32, 12},     std::pair{DType::kUInt64, 13},
    std::pair{DType::kComplex64, 14},    std::pair{DType::kComplex128, 15}, std::pair{DType::kBFloat16, 16},
    std::pair{DType::kFloat8E4M3FN, 17}, std::pair{DType::kFloat8E5M2, 19},
};

}  // namespace

std::optional<std::int32_t> data_type_of(DType dtype) {
  for (const auto& [ours, theirs] : kDataTypes) {
    if (ours == dtype) return theirs;
  }
  return std::nullopt;
}

std::optional<DType> dtype_of(std::int32_t data_type) {
  for (const auto& [ours, theirs] : kDataTypes) {
    if (theirs == data_type) return ours;
  }
  return std::nullopt;
}

Bytes Bytes::copy_of(std::span<const std::byte> bytes) {
  auto block = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> view(block->data(), block->size());
  return {std::move(block), view};
}

}  // namespace leapp::onnx
