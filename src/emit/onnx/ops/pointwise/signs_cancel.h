// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Singular vectors and eigenvectors are right with either sign, and every solver has its own. Whether the signs of
/// these results of the node cannot reach an output: on each way to one, two factors that have them meet in a product
/// (U V^T, V D V^T) or an absolute value is taken. Products of unequal vectors are let through as well; the comparison
/// of the written model with eager would find those.
[[nodiscard]] bool signs_cancel(const graph::Node& node, const std::vector<std::size_t>& results);

}  // namespace leapp::onnx_ops
