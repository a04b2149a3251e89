// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace leapp::capture {

class ScriptedRun;

/// Runs the Loop as one operator. Throws Unrecordable before anything has been run.
void record_loop(ScriptedRun& run, torch::jit::Node* node);

}  // namespace leapp::capture
