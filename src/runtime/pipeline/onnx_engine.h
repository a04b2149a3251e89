// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/engine.h"

namespace leapp::runtime {

/// What runs ONNX models as `options` prefer: LEAPP's own engine, ONNX Runtime, or for each model the one that suits
/// it. ONNX Runtime is looked for when the first model needs it.
Result<std::unique_ptr<engine::Engine>> open_onnx_engine(const engine::Options& options);

}  // namespace leapp::runtime
