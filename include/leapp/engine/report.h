// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leapp::engine {

/// One operator of a model, and whether LEAPP's own engine runs it.
struct OperatorReport {
  std::string name;  ///< "Gemm", or "domain::Name" for those that are not ONNX's own
  std::size_t count = 0;
  bool native = false;
  std::string why;  ///< why not: the node, what it makes and what is missing; empty when it does
};

/// What runs a model, and why it is that.
struct Report {
  std::string model;   ///< for messages: "models.policy (policy.onnx)"
  std::string engine;  ///< "native (AVX3)", "ONNX Runtime 1.31.1 (/path/libonnxruntime.so.1)"
  bool native = false;
  std::string why;
  std::vector<OperatorReport> operators;  ///< by name; empty for what is no ONNX model or was not looked at
};

}  // namespace leapp::engine
