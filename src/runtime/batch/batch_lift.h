// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What to do where no axis of an operator can hold the rows: all that has rows gets an axis for them in front. That
// takes more than the rules of row_node.h do, as the operator's own axes count from another place then.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/base/status.h"
#include "onnx_proto/messages.h"
#include "runtime/batch/batch_node.h"

namespace leapp::runtime {

/// An operator whose inputs and results have the rows before all of their axes.
struct Lifting {
  std::string op;
  std::vector<std::optional<BatchExtents>> shapes;  ///< of inputs with rows: what one row is seen as
  std::vector<std::size_t> repeats;                 ///< inputs that are the same for all, and needed once for each
  std::vector<std::pair<std::size_t, BatchExtents>> numbers;  ///< input, and the integers that it is now
  std::vector<onnx::AttributeProto> attributes;               ///< all of them
  std::optional<std::size_t> counted;  ///< a list of places, which gets the row's number before each
  bool other_shape = false;  ///< the first result has its elements in the right order, and axes of one more or less

  void set(std::string_view name, onnx::AttributeValue value);
};

/// Whether there is any way.
[[nodiscard]] bool can_be_lifted(std::string_view op);

/// kUnimplemented, with the reason, when the operator cannot have another axis or nothing is known of it.
Result<Lifting> lift_node(const RowNode& node);

}  // namespace leapp::runtime
