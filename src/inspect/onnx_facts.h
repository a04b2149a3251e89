// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/status.h"
#include "onnx_proto/contents.h"

namespace leapp::inspect {

/// What an ONNX model is made of. Points into the model's bytes, which must outlive it.
struct OnnxFacts {
  std::map<std::string, std::size_t> operators;  ///< how often each occurs
  std::vector<onnx::TensorContents> weights;     ///< the graph's initializers
  std::uint64_t parameters = 0;                  ///< elements of the weights that are floats
};

Result<OnnxFacts> read_onnx_facts(std::span<const std::byte> model);

/// How many operators there are.
[[nodiscard]] std::size_t operator_count(const OnnxFacts& facts);

}  // namespace leapp::inspect
