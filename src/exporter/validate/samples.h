// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "exporter/prepare.h"
#include "exporter/validate/checks.h"
#include "leapp/bundle/spec.h"

namespace leapp::exporter {

/// One node and the model that was written for it.
struct WrittenModel {
  const PreparedNode* node = nullptr;
  const bundle::Model* model = nullptr;  ///< what the YAML says of it; its ports are in the order of the node's
  std::filesystem::path file;
};

/// Loads the file as written, with what will run it later (torch for "jit", ONNX Runtime for "onnx"), and feeds it
/// every sample of the node. "skipped", with the reason and a warning in the log, for what nothing here can run.
/// Without a tolerance, differences that rounding explains are notes. Never throws.
NodeCheck check_samples(const WrittenModel& written, const std::optional<Tolerance>& tolerance, Logger& log);

/// Inputs of the node's model in one sample, and the outputs that the program gave; random ones are absent.
[[nodiscard]] Values recorded_inputs(const PreparedNode& node, std::size_t sample);
[[nodiscard]] Values recorded_outputs(const PreparedNode& node, std::size_t sample);

}  // namespace leapp::exporter
