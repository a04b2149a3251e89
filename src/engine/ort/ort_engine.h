// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/engine.h"

namespace leapp::engine {

/// The first version of ONNX Runtime with the interface used here (API version 17).
inline constexpr const char* kOldestOnnxRuntime = "1.17";

/// An engine on the ONNX Runtime that `options` lead to. The library is looked for at run time and stays loaded until
/// the process ends. kNotFound, with what was tried and what to do, when there is none. May be called from any thread.
Result<std::unique_ptr<Engine>> open_onnxruntime(const Options& options);

}  // namespace leapp::engine
