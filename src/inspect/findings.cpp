// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/words.h"

namespace leapp::inspect {
std::size_t count_of(const std::vector<CheckFinding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](const CheckFinding& one) { return one.severity == severity; }));
}

std::string counts_text(const std::vector<CheckFinding>& findings) {
  return fmt::format("{}, {}, {}", plural(count_of(findings, Severity::kError), "error"),
                     plural(count_of(findings, Severity::kWarning), "warning"),
                     plural(count_of(findings, Severity::kNote), "note"));
}

Json findings_json(const std::vector<CheckFinding>& findings) {
  Json list = Json::array();
  for (const CheckFinding& finding : findings) {
    list.push_back({{"severity", severity_text(finding.severity)},
                    {"place", finding.place},
                    {"message", finding.message},
                    {"remedy", finding.remedy}});
  }
  return list;
}

void sort_by_severity(std::vector<CheckFinding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const CheckFinding& a, const CheckFinding& b) { return a.severity < b.severity; });
}

}  // namespace leapp::inspect
