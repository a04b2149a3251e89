// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace leapp::python {

/// Loads a bundle with what only Python knows: where ONNX Runtime's package is, torch for "jit" nodes, and "pt2" nodes.
/// Python's lock, which the caller has, is free meanwhile. Raises what went wrong.
runtime::Pipeline load_pipeline(const std::filesystem::path& bundle, const std::string& node,
                                const runtime::LoadOptions& options);

/// The same on a thread that does not have Python's lock, and returns what went wrong.
Result<runtime::Pipeline> load_anywhere(const std::filesystem::path& bundle, const runtime::LoadOptions& options);

}  // namespace leapp::python
