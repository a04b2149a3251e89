// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "leapp/base/status.h"
#include "onnx_proto/reader.h"

/// Models that are small as files and without end when they run. What can be seen without running them is refused
/// before anybody tries: functions that call each other until there are billions of operators, loops with a constant
/// number of rounds that no machine gets through, tensors whose constant size is more than the memory there is. What
/// depends on values of the inputs cannot be seen.
namespace leapp::onnx {

struct ModelLimits {
  std::uint64_t functions = 1024;
  std::uint64_t nested_functions = 64;  ///< that call each other: what ONNX Runtime takes grows with the square of it
  std::uint64_t operators = 200'000;    ///< with functions written out where they are called; a body counts as 16
  std::uint64_t operator_runs = 10'000'000;  ///< in one run, as far as loops have a constant number of rounds
  std::uint64_t tensor_bytes = ~std::uint64_t{0};
  std::uint64_t empty_extents = 1U << 28U;  ///< of a tensor without elements, the others multiplied: kernels walk them
};

/// kInvalidArgument, with the node and both numbers, for a model beyond the limits; kDataLoss for what is no model or
/// has graphs inside each other more than 64 deep. Takes time and memory in proportion to the model's size.
Status check_limits(Encoded model, const ModelLimits& limits);

}  // namespace leapp::onnx
