// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"

namespace leapp::runtime {

/// Opens what runs models of a backend ("onnx", "jit").
using EngineOpener = std::function<Result<std::unique_ptr<engine::Engine>>(const std::string& backend)>;

/// "onnx": LEAPP's own engine or ONNX Runtime, as the options prefer. "jit": the torch engine, from its shared object.
/// "pt2": an error that says what runs it.
Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& backend, const engine::Options& options);

}  // namespace leapp::runtime
