// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors that the program advances while no node is open, and that a node reads: an episode's length, a phase.
//
//   env.episode_length += 1          # between two passes, by the same operators each time
//   x = annotate.input_tensors("policy", {"x": ...})
//   y = policy(x, env.episode_length)
//
// What was done to memory outside of nodes is remembered from the moment on in which a node has read it. Where it was
// the same between every two calls, and gives what the next call read, these operators become a node of their own,
// which keeps the tensor as its state and feeds an input of the node that reads it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// `name_of`: of the variable or attribute that holds a tensor, or nothing. REQUIRES: the leaks of all nodes have been
/// dealt with.
void promote_counters(CaptureResult& recording, ConstantEvaluator& evaluator,
                      const std::function<std::string(const at::Tensor&)>& name_of);

}  // namespace leapp::capture
