// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <vector>

namespace leapp::engine {

/// The module for inputs of these dtypes and shapes only: weights are constants of its graph, and a linear layer with
/// a bias and rows for input is one operator instead of three. What remains runs as before, on the same memory: results
/// have the same bits. REQUIRES: the module is in evaluation mode. Throws when torch cannot do it.
torch::jit::Module specialised(const torch::jit::Module& module, const std::vector<at::Tensor>& inputs);

}  // namespace leapp::engine
