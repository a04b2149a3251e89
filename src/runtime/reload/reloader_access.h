// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "leapp/base/export.h"
#include "leapp/runtime/reloader.h"

namespace leapp::runtime {

/// For those who load bundles in a way of their own: front ends that know more engines, and tests.
struct ReloaderAccess {
  using Load = std::function<Result<Pipeline>(const std::filesystem::path& bundle, const LoadOptions& options)>;

  /// `load` is called by the loading thread.
  LEAPP_API static Result<Reloader> make(Pipeline& pipeline, ReloaderOptions options, Load load);
};

}  // namespace leapp::runtime
