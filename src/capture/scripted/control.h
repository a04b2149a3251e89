// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// An If or a Loop of scripted code as one operator of a trace.
//
//   leapp::control(Tensor[] operands, str first, str second) -> Tensor[]
//
// `first` and `second` are graphs in their text form. With both, it is a conditional (graph/conditional.h): the first
// operand is the condition, the rest go into the side that is taken. With `first` alone it is a loop (graph/loop.h)
// over its body: the operands are the count, the condition, what is carried and the rest. What a program calls is
// control_, which also writes to the tensors that the scripted code writes to; it is recorded as this one.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::capture {

struct ControlCall {
  std::vector<at::Tensor> operands;
  std::vector<at::Tensor> written;  ///< among the operands; their new content follows the results
  std::string first;
  std::string second;
};

/// Whoever records this thread sees one operator. `run` does what it stands for, writes included, and gives the
/// results.
std::vector<at::Tensor> call_control(const ControlCall& call, const std::function<std::vector<at::Tensor>()>& run);

/// What such an operator is in a graph, without results and line. The operands are values of that graph.
Result<graph::NodeSpec> control_spec(const std::vector<graph::Value*>& operands, const std::string& first,
                                     const std::string& second);

}  // namespace leapp::capture
