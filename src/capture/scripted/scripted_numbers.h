// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of scripted code that came out of tensors.
//
// TorchScript turns a tensor into a number before it compares it, counts with it or multiplies by it. Beside such a
// number its *twin* is kept: a tensor without dimensions (bool, int64 or float64) that holds the same. What is computed
// from the number is computed from the twin too, by operators that are recorded.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <vector>

namespace leapp::capture {

/// What a value of scripted code is.
struct ScriptedItem {
  c10::IValue value;
  at::Tensor twin;     ///< defined: `value` is a number that depends on data
  bool unset = false;  ///< TorchScript says that nobody reads it
};

[[nodiscard]] bool is_number(const c10::IValue& value);
/// Of twins of such numbers.
[[nodiscard]] at::ScalarType twin_type(const c10::IValue& number);
/// The twin, or a tensor that holds the number.
[[nodiscard]] at::Tensor as_tensor(const ScriptedItem& item);

/// Whether a node reads a number out of a tensor: what it gives depends on data.
[[nodiscard]] bool reads_number(const torch::jit::Node& node);

/// The twin of what `reads_number` gave for a tensor; undefined: it cannot be followed.
[[nodiscard]] at::Tensor twin_of_read(const torch::jit::Node& node, const std::vector<ScriptedItem>& inputs,
                                      const c10::IValue& number);

/// The twin of the number that `node` computed from numbers; undefined: it cannot be followed.
[[nodiscard]] at::Tensor twin_of_number(const torch::jit::Node& node, const std::vector<ScriptedItem>& inputs,
                                        const c10::IValue& number);

/// What an operator on tensors gives with the twin in the place of the number; nothing: it cannot be followed, and
/// nothing has been run.
[[nodiscard]] std::optional<c10::IValue> run_with_twins(const torch::jit::Node& node,
                                                        const std::vector<ScriptedItem>& inputs);

}  // namespace leapp::capture
