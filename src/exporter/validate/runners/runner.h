// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "exporter/validate/numbers/compare.h"
#include "exporter/validate/samples.h"
#include "leapp/base/status.h"
#include "leapp/engine/options.h"

namespace leapp::exporter {

/// A written model that can be called. May throw what torch throws.
class ModelRunner {
 public:
  ModelRunner() = default;
  ModelRunner(const ModelRunner&) = delete;
  ModelRunner& operator=(const ModelRunner&) = delete;
  virtual ~ModelRunner() = default;

  /// What the file alone shows to be wrong with the outputs: their number, names, dtypes or shapes.
  [[nodiscard]] virtual std::optional<OutputProblem> signature_problem() const { return std::nullopt; }

  /// `inputs` are not written to; the result is valid until the next call.
  virtual Result<std::vector<at::Tensor>> run(const std::vector<at::Tensor>& inputs) = 0;
};

/// A model that an engine of the runtime has loaded.
struct LoadedModel {
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::EngineModel> model;
  bool describes_outputs = true;  ///< false: its file does not say how many there are
};

/// Runs it on tensors of its own. `ports` are what the YAML says of it.
[[nodiscard]] std::unique_ptr<ModelRunner> runner_on(LoadedModel loaded, const bundle::Model& ports);

/// On the engine that deploys it: frozen and specialised, not as it is written.
Result<std::unique_ptr<ModelRunner>> open_torchscript_runner(const WrittenModel& written);

/// kNotFound in a program without Python.
Result<std::unique_ptr<ModelRunner>> open_pt2_runner(const WrittenModel& written);

/// A model on one of the engines that may run it.
struct NamedRunner {
  std::unique_ptr<ModelRunner> runner;
  engine::Prefer engine = engine::Prefer::kAuto;  ///< kNative or kOnnxRuntime for ONNX models
  std::string name;                               ///< "LEAPP's own engine", "ONNX Runtime"; empty: there is only one
};

/// On one of the engines: kOnnxRuntime or kNative. kNotFound when there is no ONNX Runtime (in the process, at
/// LEAPP_ONNXRUNTIME, beside the torch package, or where the system's loader looks), kUnimplemented when LEAPP's own
/// engine does not cover the model.
Result<NamedRunner> open_onnx_runner(const WrittenModel& written, engine::Prefer prefer);

/// While the result lives, torch runs models as they are written. Its optimiser watches the first runs and keeps every
/// value of theirs in memory: not worth it for a few passes.
[[nodiscard]] std::shared_ptr<void> without_torchscript_optimiser();

/// What an exception says, without torch's trace of C++ calls.
[[nodiscard]] std::string reason_of(const std::exception& failure);

}  // namespace leapp::exporter
