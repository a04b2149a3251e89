// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Validates a written bundle: every model against what was recorded, then the bundle as a whole; where something
// differs, why.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "capture/trace/record.h"
#include "exporter/prepare.h"
#include "exporter/validate/report/report.h"
#include "leapp/bundle/spec.h"
#include "leapp/capture.h"

namespace leapp::exporter {

struct ValidationRequest {
  const std::vector<PreparedNode>* nodes = nullptr;
  const bundle::BundleSpec* spec = nullptr;
  capture::CaptureResult* recording = nullptr;
  std::optional<Tolerance> tolerance;  ///< of the user's; absent: by dtype and size
  bool dry_run = false;
  bool verify_checksums = true;  ///< false: the files are known to be others than those that were written
};

/// Reads the files in the session's folder. Shows a line a node and at the end a table: on the console when it is
/// verbose or something is wrong, in the log always. Never throws.
[[nodiscard]] Validation validate_bundle(const ValidationRequest& request);

/// In the order of the nodes.
[[nodiscard]] std::vector<NodeResult> results_of(const Validation& validation);

/// Not ok, with all that failed and where the log is, when something did.
[[nodiscard]] Status verdict(const Validation& validation, const std::filesystem::path& log);

/// Writes `{name}_report.json` into the folder when anything was found, in one step.
[[nodiscard]] Status write_report(const Validation& validation, const std::filesystem::path& folder);

}  // namespace leapp::exporter
