// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace leapp::emit {

/// The schema under which TorchScript knows the node's operator, or nullptr.
[[nodiscard]] const c10::FunctionSchema* find_schema(const graph::Node& node);

/// The node's arguments as the schema lists them, nullptr where the node leaves one to its default.
/// Throws c10::Error where the node has an argument the schema does not know, or lacks one without a default.
[[nodiscard]] std::vector<const graph::Attribute*> match_arguments(const graph::Node& node,
                                                                   const c10::FunctionSchema& schema);

/// A Python number, or nullopt for any other attribute.
[[nodiscard]] std::optional<c10::Scalar> as_number(const graph::Attribute& attribute);

[[nodiscard]] bool is_tensor(const c10::Type& type);       ///< Tensor or Tensor?
[[nodiscard]] bool is_number(const c10::Type& type);       ///< Scalar or Scalar?
[[nodiscard]] bool is_device(const c10::Type& type);       ///< Device or Device?
[[nodiscard]] bool is_tensor_list(const c10::Type& type);  ///< Tensor[], Tensor?[], or None in place of one

/// The overload to call in TorchScript: the recorded one, or its sibling that takes a number where the recorded one has
/// a tensor and the argument is a number, and the other way round for bools, which TorchScript makes ints of when it
/// passes them as Scalar. Arguments keep their positions. The recorded one when there is no such sibling.
[[nodiscard]] const c10::FunctionSchema* choose_overload(const c10::FunctionSchema& recorded,
                                                         const std::vector<const graph::Attribute*>& arguments);

/// The 0-d tensor that leads to the same result dtype as `number` among these operands: TorchScript has no way to mark
/// a tensor as a number.
[[nodiscard]] at::Tensor number_tensor(const c10::Scalar& number, const graph::Node& node);

/// What the schema's argument takes. REQUIRES: neither a tensor nor a list of tensors. Throws c10::Error.
[[nodiscard]] c10::IValue to_ivalue(const graph::Attribute& attribute, const c10::Argument& argument);

}  // namespace leapp::emit
