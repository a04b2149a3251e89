// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "inspect/both_engines.h"
#include "inspect/findings.h"
#include "inspect/opened_bundle.h"
#include "leapp/runtime/options.h"

namespace leapp::inspect {

struct CheckOptions {
  std::string target;    ///< "isaac-ros": also what that consumer needs; empty: nothing more
  bool no_load = false;  ///< look at the files only
  runtime::LoadOptions load;
  std::function<void(std::size_t)> progress;  ///< called with the number of models that were read; may be empty
  std::function<void(bool)> heartbeat;        ///< called before something that may hang; true: a step. May be empty
};

struct CheckReport {
  std::vector<CheckFinding> findings;  ///< errors first
  bool loaded = false;                 ///< whether the models were loaded and stepped
  EngineComparison engines;
};

/// Validates a bundle: wiring, files, checksums, initial values, names; then loads it and makes two steps.
[[nodiscard]] CheckReport check_bundle(const OpenedBundle& opened, const CheckOptions& options);

}  // namespace leapp::inspect
