// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/finding_text.h"

#include <fmt/format.h>

#include <sstream>

namespace leapp::exporter {

std::string finding_text(const Finding& finding) {
  std::string text = finding.what;
  if (!finding.file.empty()) {
    text += fmt::format("\n    where: {}:{}", finding.file, finding.line);
    if (!finding.code.empty()) text += "    " + finding.code;
  }
  for (const std::string& detail : finding.details) text += "\n    " + detail;
  if (!finding.remedy.empty()) text += "\n    what to do: " + finding.remedy;
  std::istringstream lines(finding.snippet);
  for (std::string line; std::getline(lines, line);) text += "\n        " + line;
  return text;
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : "\n  also: ") + finding_text(finding);
  return text;
}

}  // namespace leapp::exporter
