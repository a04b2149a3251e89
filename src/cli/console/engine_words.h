// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What runs a bundle, in the words of the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/console/context.h"
#include "leapp/engine/report.h"

namespace leapp::cli {

/// "native", "onnxruntime" or "torch": as --engine has it.
[[nodiscard]] std::string engine_key(const engine::Report& report);

/// "LEAPP's own engine, ONNX Runtime": each once.
[[nodiscard]] std::string engines_text(const std::vector<engine::Report>& reports);

/// ["native", "onnxruntime"]: each once.
[[nodiscard]] Json engines_json(const std::vector<engine::Report>& reports);

/// A table of what runs each model and why, and one of their operators.
[[nodiscard]] std::string choice_text(const std::vector<engine::Report>& reports, const Context& context);
[[nodiscard]] Json choice_json(const std::vector<engine::Report>& reports);

}  // namespace leapp::cli
