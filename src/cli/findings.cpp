// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "cli/words.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kIndent = 9;

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return Style::kRed;
    case Severity::kWarning:
      return Style::kYellow;
    case Severity::kNote:
      return Style::kDim;
  }
  return Style::kPlain;
}

std::string indented(const std::string& text, const std::string& mark) {
  std::string lines;
  std::string begin = std::string(kIndent, ' ') + mark;
  for (const std::string& line : wrap(one_line(text), kLineWidth - begin.size())) {
    lines += begin + line + "\n";
    begin = std::string(begin.size(), ' ');
  }
  return lines;
}

}  // namespace

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& one) { return one.severity == severity; }));
}

std::string counts_text(const std::vector<Finding>& findings) {
  return fmt::format("{}, {}, {}", plural(count_of(findings, Severity::kError), "error"),
                     plural(count_of(findings, Severity::kWarning), "warning"),
                     plural(count_of(findings, Severity::kNote), "note"));
}

std::string findings_text(const std::vector<Finding>& findings, const Context& context) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string severity = severity_text(finding.severity);
    text += context.styled(severity, style_of(finding.severity)) + std::string(kIndent - severity.size(), ' ');
    bool first = true;
    for (const std::string& line : wrap(one_line(finding.place), kLineWidth - kIndent)) {
      text += (first ? "" : std::string(kIndent, ' ')) + context.styled(line, Style::kBold) + "\n";
      first = false;
    }
    text += indented(finding.message, "");
    if (!finding.remedy.empty()) text += indented(finding.remedy, "-> ");
  }
  return text;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"severity", severity_text(finding.severity)},
                    {"place", finding.place},
                    {"message", finding.message},
                    {"remedy", finding.remedy}});
  }
  return list;
}

void sort_by_severity(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
}

}  // namespace leapp::cli
