// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "leapp/runtime/pipeline.h"
#include "runtime/engines.h"

namespace leapp::runtime {

/// For those who bring engines of their own: tests, and front ends that know more than one.
struct PipelineAccess {
  static Result<Pipeline> load(const std::filesystem::path& bundle, const LoadOptions& options, EngineOpener open);

 private:
  class Loader;
};

}  // namespace leapp::runtime
