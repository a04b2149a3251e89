// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/severity.h"
#include "inspect/spec_json.h"

namespace leapp::inspect {

struct CheckFinding {
  Severity severity = Severity::kError;
  std::string place;    ///< "models.policy", "policy/obs", "pipeline.configs"
  std::string message;  ///< what was expected and what was found
  std::string remedy;   ///< what to do about it
};

[[nodiscard]] std::size_t count_of(const std::vector<CheckFinding>& findings, Severity severity);

/// "2 errors, 1 warning, 3 notes".
[[nodiscard]] std::string counts_text(const std::vector<CheckFinding>& findings);

[[nodiscard]] Json findings_json(const std::vector<CheckFinding>& findings);

/// Errors first, then warnings, then notes; otherwise as they were.
void sort_by_severity(std::vector<CheckFinding>& findings);

}  // namespace leapp::inspect
