// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The engines that deploy bundles, inside a process that has torch: the runtime's plugin for TorchScript is linked in.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"

namespace leapp::exporter {

/// On the CPU. kNotFound when there is no ONNX Runtime, kUnimplemented for what the runtime does not run.
Result<std::unique_ptr<engine::Engine>> open_deployment_engine(const std::string& backend);

/// The same for ONNX models, on the engine of that name.
Result<std::unique_ptr<engine::Engine>> open_onnx_engine_of(engine::Prefer prefer);

}  // namespace leapp::exporter
