// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <string>

#include "capture/scripted/block_environment.h"

namespace leapp::capture {

class ScriptedRun;

/// An assertion, mostly.
struct OneSideRaises : Unrecordable {
  OneSideRaises(const std::string& what, std::size_t the_other) : Unrecordable(what), other(the_other) {}
  std::size_t other;  ///< the side that does not
};

/// Runs the If as one operator. Throws Unrecordable before anything has been run.
void record_branch(ScriptedRun& run, torch::jit::Node* node);

}  // namespace leapp::capture
