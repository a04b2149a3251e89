// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnx_proto/reader.h"

namespace leapp::onnx {

/// Whether an engine may work out beforehand whatever follows from the model's constants alone: that takes time and
/// memory of nobody's counting, and cannot be ended. True where it comes to a few passes over the model, `bytes` of it
/// with the weights beside it: operators whose results are no larger than what they are made of, or whose size is
/// known. False for everything else, which an engine then does in each run. Takes time in proportion to the model.
[[nodiscard]] bool folds_cheaply(Encoded model, std::uint64_t bytes);

}  // namespace leapp::onnx
