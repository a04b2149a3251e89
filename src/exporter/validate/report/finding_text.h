// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "leapp/base/finding.h"

namespace leapp::exporter {

/// The whole finding, several lines: what, where, details, what to do. The first line is not indented.
[[nodiscard]] std::string finding_text(const Finding& finding);

/// All of them, one below the other.
[[nodiscard]] std::string findings_text(const std::vector<Finding>& findings);

}  // namespace leapp::exporter
