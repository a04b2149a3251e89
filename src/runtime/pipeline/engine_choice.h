// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/engine.h"
#include "runtime/pipeline/engines.h"

namespace leapp::runtime {

/// What the environment variable LEAPP_ENGINE says ("native", "onnxruntime") where the options leave it open.
/// kInvalidArgument for anything else but "auto" and nothing.
Result<engine::Prefer> preferred_engine(const engine::Options& options);

/// Which engine runs an ONNX model. Told from the model and the options alone, not from the machine: the same bundle is
/// run by the same engine everywhere, except that LEAPP's own takes what it can where there is no ONNX Runtime.
struct EngineChoice {
  bool native = false;
  /// What runs it, why, and of each operator whether LEAPP's own engine has it. `engine` is empty for ONNX Runtime,
  /// whose version is not known yet.
  engine::Report report;
  /// On LEAPP's own engine, also where ONNX Runtime was chosen; null: it does not cover it, or was not asked.
  std::unique_ptr<engine::EngineModel> model;
  /// Why there may be no ONNX Runtime to do without: what LEAPP's own engine lacks, a line each. Empty: nothing.
  std::string uncovered;
  /// Something was asked for that only ONNX Runtime has.
  bool only_onnxruntime = false;
};

/// An error when LEAPP_ENGINE is wrong, or the model is to run on LEAPP's own engine alone and cannot.
Result<EngineChoice> choose_engine(const engine::ModelSource& source, const engine::Options& options);

/// Engines that load nothing and only say, in the reports of their models, what would run each and why. The models
/// cannot be prepared. For Pipeline::load with `prepare` off.
[[nodiscard]] EngineOpener choosing_engines(const engine::Options& options);

}  // namespace leapp::runtime
