// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "leapp/base/status.h"

namespace leapp::onnx {

/// The files that the tensors of a model say their data is in, as written there: relative to the model's folder in any
/// honest one. Looks everywhere a tensor can be: in subgraphs and functions too. The model may come from strangers:
/// kDataLoss when it is no protobuf message, or nested deeper than ONNX Runtime would follow.
Result<std::set<std::string>> external_data_files(std::span<const std::byte> model);

}  // namespace leapp::onnx
