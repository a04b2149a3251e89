// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: pieces of models.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onnx_proto/messages.h"

namespace leapp::onnx {

inline constexpr std::int32_t kInt64 = 7;

inline TensorProto numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  TensorProto tensor{name, kInt64, {static_cast<std::int64_t>(values.size())}, {}, {}};
  tensor.raw_data = Bytes::copy_of(std::as_bytes(std::span(values)));
  return tensor;
}

inline NodeProto node(const std::string& op, std::vector<std::string> inputs, const std::string& output) {
  NodeProto made;
  made.inputs = std::move(inputs);
  made.outputs = {output};
  made.name = op + "_" + output;
  made.op_type = op;
  return made;
}

}  // namespace leapp::onnx
