// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/api.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

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

Status take_status(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return {};
  const std::string_view message = api.GetErrorMessage(status);
  // It has no code for that.
  const bool memory = message.find("bad_alloc") != std::string_view::npos ||
                      message.find("bad allocation") != std::string_view::npos ||
                      message.find("Failed to allocate memory") != std::string_view::npos;
  Status result(memory ? StatusCode::kOutOfMemory : to_code(api.GetErrorCode(status)), std::string(message));
  api.ReleaseStatus(status);
  return result;
}

}  // namespace leapp::engine::ort
