// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inspect/words.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;

std::string padding(std::size_t wanted, std::size_t used) {
  return std::string(wanted > used ? wanted - used : 0, ' ');
}

void trim_end(std::string& line) {
  while (line.ends_with(' ')) line.pop_back();
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells, Style style) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back({std::move(cells), style});
}

std::vector<std::size_t> Table::widths(std::size_t available) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(row.cells[i]));
  }
  std::size_t total = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) total += (widths[i] = std::max(widths[i], display_width(columns_[i].title))) + kGap;
  }
  // The widest gives way until all fit.
  while (total > available + kGap) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) break;
    --*widest;
    --total;
  }
  return widths;
}

void Table::append_row(std::string& text, const Row& row, const std::vector<std::size_t>& widths) const {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    cells.push_back(widths[i] == 0 ? std::vector<std::string>{""} : wrap(row.cells[i], widths[i]));
    height = std::max(height, cells.back().size());
  }
  for (std::size_t at = 0; at < height; ++at) {
    std::string line;
    std::size_t skipped = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string piece = at < cells[i].size() ? cells[i][at] : "";
      const std::string pad = padding(widths[i], display_width(piece));
      line += std::string(skipped, ' ') + (columns_[i].right ? pad + piece : piece + pad);
      skipped = kGap;
    }
    trim_end(line);
    text += line + '\n';
  }
}

std::string Table::text(const Context& context, std::size_t indent) const {
  const std::vector<std::size_t> fitted = widths(kLineWidth - indent);
  Row titles{{}, Style::kBold};
  for (const Column& column : columns_) titles.cells.push_back(column.title);
  std::string text;
  const auto append = [&](const Row& row) {
    std::string lines;
    append_row(lines, row, fitted);
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      text += std::string(indent, ' ') + context.styled(lines.substr(at, end - at), row.style) + '\n';
      at = end + 1;
    }
  };
  append(titles);
  for (const Row& row : rows_) append(row);
  return text;
}

std::string key_values(const std::vector<std::pair<std::string, std::string>>& rows) {
  constexpr std::size_t kWidestKey = kLineWidth / 2;
  std::size_t widest = 0;
  for (const auto& row : rows) widest = std::max(widest, std::min(display_width(one_line(row.first)), kWidestKey));
  std::string text;
  for (const auto& [written, value] : rows) {
    const std::string key = wrap(one_line(written), kWidestKey).front();
    std::string line = "  " + key + padding(widest, display_width(key)) + "  ";
    for (const std::string& piece : wrap(one_line(value), kLineWidth - widest - 4)) {
      line += piece;
      trim_end(line);
      text += line + '\n';
      line = std::string(widest + 4, ' ');
    }
  }
  return text;
}

namespace {

constexpr std::size_t kFindingIndent = 9;

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
  std::string begin = std::string(kFindingIndent, ' ') + mark;
  for (const std::string& line : wrap(one_line(text), kLineWidth - begin.size())) {
    lines += begin + line + "\n";
    begin = std::string(begin.size(), ' ');
  }
  return lines;
}

}  // namespace

std::string findings_text(const std::vector<inspect::CheckFinding>& findings, const Context& context) {
  std::string text;
  for (const inspect::CheckFinding& finding : findings) {
    const std::string severity = severity_text(finding.severity);
    text += context.styled(severity, style_of(finding.severity)) + std::string(kFindingIndent - severity.size(), ' ');
    bool first = true;
    for (const std::string& line : wrap(one_line(finding.place), kLineWidth - kFindingIndent)) {
      text += (first ? "" : std::string(kFindingIndent, ' ')) + context.styled(line, Style::kBold) + "\n";
      first = false;
    }
    text += indented(finding.message, "");
    if (!finding.remedy.empty()) text += indented(finding.remedy, "-> ");
  }
  return text;
}

}  // namespace leapp::cli
