// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A branch or a loop of scripted code, made one operator.
//
// Its blocks are recorded by themselves, on copies. What a block may write to is found out by running it; that memory
// goes in and comes out like everything else. Then the real thing runs, as what the operator does.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <string>

#include "capture/scripted_world.h"

namespace leapp::capture {

class ScriptedRun;

/// An assertion, mostly.
struct OneSideRaises : Unrecordable {
  OneSideRaises(const std::string& what, std::size_t the_other) : Unrecordable(what), other(the_other) {}
  std::size_t other;  ///< the side that does not
};

/// Runs the If, or the Loop, as one operator. Throws Unrecordable before anything has been run.
void record_branch(ScriptedRun& run, torch::jit::Node* node);
void record_loop(ScriptedRun& run, torch::jit::Node* node);

}  // namespace leapp::capture
