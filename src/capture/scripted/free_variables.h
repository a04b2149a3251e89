// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

#include "capture/scripted/block_environment.h"

namespace leapp::capture {

class ScriptedRun;

/// All that the blocks of a branch or a loop can reach.
struct FreeVariables {
  /// Throws Unrecordable where two tensors may be one memory on another way.
  FreeVariables(const ScriptedRun& run, at::ArrayRef<torch::jit::Block*> blocks);

  std::vector<const torch::jit::Value*> free;  ///< what they read and do not make, in the order of first use
  BlockEnvironment world;                      ///< the tensors of these, of attributes and of constants
};

}  // namespace leapp::capture
