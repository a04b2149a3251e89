// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "leapp/base/export.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/engines.h"

namespace leapp::runtime {

/// For those who bring engines of their own: tests, and front ends that know more than one.
struct PipelineAccess {
  LEAPP_API static Result<Pipeline> load(const std::filesystem::path& bundle, const LoadOptions& options,
                                         EngineOpener open);

  /// The engines that Pipeline::load uses.
  LEAPP_API static Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& backend,
                                                                       const engine::Options& options);

 private:
  class Loader;
};

}  // namespace leapp::runtime
