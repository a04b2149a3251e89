// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// LEAPP's own engine for ONNX models of fixed shapes. A model becomes a list of calls on memory that never moves; a run
// walks the list. It allocates nothing, takes no lock and makes no system call; the same inputs give the same bits on
// one machine, whatever thread runs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/native/lowering.h"
#include "engine/native/speed.h"

namespace leapp::native {

/// What became of a model: something that runs it, or why there is none.
struct Attempt {
  std::unique_ptr<engine::EngineModel> model;  ///< null: see `uncovered`
  engine::Report report;
  std::vector<Uncovered> uncovered;
  Speed speed;  ///< of the model, if there is one
};

/// An error when the bytes are no ONNX model. Any bytes end in an error or in a model that works.
Result<Attempt> attempt(const engine::ModelSource& source);

/// "Gemm policy/linear (makes \"x\"): why", one per line.
[[nodiscard]] std::string describe(const std::vector<Uncovered>& uncovered);

/// Loads every model that it covers; refuses others with all that it lacks.
std::unique_ptr<engine::Engine> open_native();

/// The plan of a model as text.
Result<std::string> plan_text(const engine::ModelSource& source);

}  // namespace leapp::native
