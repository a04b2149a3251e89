// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a graph and torch call the same thing. For every folder that knows both.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <optional>

#include "graph/graph.h"

namespace leapp {

/// nullopt for types a graph has no name for (quantised, bits).
[[nodiscard]] std::optional<DType> to_dtype(at::ScalarType type);
[[nodiscard]] at::ScalarType to_scalar_type(DType dtype);

/// A CPU tensor over the constant's own bytes, which it keeps alive; a copy where these are not aligned for the type.
/// Nobody may write to it. Throws c10::Error.
[[nodiscard]] at::Tensor to_tensor(const graph::Constant& constant);

/// Shares the memory of `tensor` and keeps it alive, unless it has to be moved to the CPU or made contiguous first.
/// nullopt for what a graph cannot hold: undefined, sparse, nested or quantised. Throws c10::Error.
[[nodiscard]] std::optional<graph::Constant> to_constant(const at::Tensor& tensor);

}  // namespace leapp
