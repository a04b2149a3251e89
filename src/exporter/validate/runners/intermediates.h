// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "exporter/validate/bisect.h"
#include "leapp/engine/options.h"

namespace leapp::exporter {

/// A model that our emitters wrote, and the sample to run it on.
struct EmittedModel {
  const graph::Graph* graph = nullptr;
  std::filesystem::path file;
  std::vector<std::string> input_names;   ///< as in the YAML
  std::vector<std::string> output_names;  ///< likewise
  int opset_version = 18;
  Values inputs;
  engine::Prefer engine = engine::Prefer::kAuto;  ///< of ONNX models: where they are run
};

/// kUnimplemented, with the reason, when the file's values and the graph's cannot be told which is which.
Result<std::unique_ptr<Intermediates>> onnx_intermediates(const EmittedModel& model);
Result<std::unique_ptr<Intermediates>> torchscript_intermediates(const EmittedModel& model);

}  // namespace leapp::exporter
