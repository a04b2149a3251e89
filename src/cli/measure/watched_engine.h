// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cli/measure/latency.h"
#include "leapp/runtime/options.h"
#include "runtime/pipeline/engines.h"

namespace leapp::cli {

/// The times of models, in the order in which they were loaded.
using ModelTimes = std::vector<std::unique_ptr<Latencies>>;

/// Opens engines whose models book what they allocate to the engine and, if `times` is given, add how long each run
/// took, up to `runs` of them. `times` must outlive the models.
[[nodiscard]] runtime::EngineOpener watched_engines(const engine::Options& options, ModelTimes* times,
                                                    std::size_t runs);

}  // namespace leapp::cli
