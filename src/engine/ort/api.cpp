// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/api.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/ort/memory_account.h"

namespace leapp::engine::ort {
namespace {

constexpr std::array<std::pair<DType, ONNXTensorElementDataType>, 17> kTypes{{
    {DType::kFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {DType::kFloat32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {DType::kFloat64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {DType::kBFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {DType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {DType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {DType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {DType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {DType::kUInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {DType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {DType::kUInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {DType::kUInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {DType::kUInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {DType::kComplex64, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64},
    {DType::kComplex128, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128},
    {DType::kFloat8E4M3FN, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN},
    {DType::kFloat8E5M2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2},
}};

StatusCode to_code(OrtErrorCode code) {
  switch (code) {
    case ORT_INVALID_ARGUMENT:
      return StatusCode::kInvalidArgument;
    case ORT_NO_SUCHFILE:
    case ORT_NO_MODEL:
      return StatusCode::kIo;
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return StatusCode::kDataLoss;
    case ORT_NOT_IMPLEMENTED:
      return StatusCode::kUnimplemented;
    default:
      return StatusCode::kInternal;
  }
}

}  // namespace

std::optional<DType> to_dtype(ONNXTensorElementDataType type) {
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& pair) { return pair.second == type; });
  return row == kTypes.end() ? std::nullopt : std::optional(row->first);
}

ONNXTensorElementDataType to_onnx(DType dtype) {
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& pair) { return pair.first == dtype; });
  return row == kTypes.end() ? ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED : row->second;
}

std::optional<StatusCode> memory_code(std::string_view message) {
  const auto says = [&](std::string_view words) { return message.find(words) != std::string_view::npos; };
  if (says(kRefused)) return StatusCode::kInvalidArgument;
  if (says("bad_alloc") || says("bad allocation") || says("Failed to allocate memory")) return StatusCode::kOutOfMemory;
  return std::nullopt;
}

Status take_status(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return {};
  const std::string_view message = api.GetErrorMessage(status);
  Status result(memory_code(message).value_or(to_code(api.GetErrorCode(status))), std::string(message));
  api.ReleaseStatus(status);
  return result;
}

}  // namespace leapp::engine::ort
