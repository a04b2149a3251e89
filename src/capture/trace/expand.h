// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of an operator: which operators it calls in turn.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::capture {

struct OperatorCall {
  std::string op;  ///< "aten::gru_cell"
  std::string overload;
  std::vector<at::Tensor> inputs;  ///< what may differ from call to call; every other tensor is a constant
  /// Calls the operator once, on this thread, and returns its results; empty: it failed.
  std::function<std::vector<at::Tensor>()> run;
};

/// What `call` computes as operators that it calls itself: inputs "x0", "x1", ... in the order given, outputs "y0", ...
/// kUnimplemented where these operators do not account for the results, where a value leaves them (item) or where a
/// shape depends on data; kFailedPrecondition while a session records.
Result<graph::Graph> record_inside(const OperatorCall& call);

}  // namespace leapp::capture
