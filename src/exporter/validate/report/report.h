// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "exporter/validate/checks.h"

namespace leapp::exporter {

/// All that one validation found out.
struct Validation {
  std::string name;                    ///< of the graph
  std::optional<Tolerance> tolerance;  ///< absent: by dtype and size
  std::vector<NodeCheck> nodes;        ///< in the order of the YAML
  PipelineCheck pipeline;
  std::vector<Finding> findings;  ///< those that fail first
};

/// The text of `{name}_report.json` (docs/concepts/validation.md). Has no times: equal runs give equal reports.
[[nodiscard]] std::string report_text(const Validation& validation);

}  // namespace leapp::exporter
