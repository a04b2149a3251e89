// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"

namespace leapp::engine::ort {

/// An object of ONNX Runtime with the function that frees it.
template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

[[nodiscard]] std::optional<DType> to_dtype(ONNXTensorElementDataType type);
/// ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED for what ONNX lacks.
[[nodiscard]] ONNXTensorElementDataType to_onnx(DType dtype);

/// What a message of ONNX Runtime says of memory, for which it has no code: kInvalidArgument where it was our limit
/// (memory.h), kOutOfMemory where there was none.
[[nodiscard]] std::optional<StatusCode> memory_code(std::string_view message);

/// Takes `status` over; ok when it is null. The message is ONNX Runtime's.
Status take_status(const OrtApi& api, OrtStatus* status);

}  // namespace leapp::engine::ort

/// Returns from the enclosing function when a call of ONNX Runtime failed.
#define LEAPP_RETURN_IF_ORT_ERROR(api, call) LEAPP_RETURN_IF_ERROR(::leapp::engine::ort::take_status((api), (call)))
