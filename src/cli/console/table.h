// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/console/context.h"
#include "inspect/findings.h"

namespace leapp::cli {

/// The widest line that the tool prints.
inline constexpr std::size_t kLineWidth = 100;

/// Rows of text under titles, as wide as needed and never wider than kLineWidth: what does not fit goes on in the next
/// line of its cell, so nothing is cut off.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  ///< numbers
  };

  explicit Table(std::vector<Column> columns);

  /// Cells are made printable. Fewer than there are columns: the others are empty.
  void add(std::vector<std::string> cells, Style style = Style::kPlain);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Columns without a single cell are left out. `indent` spaces stand before every line.
  [[nodiscard]] std::string text(const Context& context, std::size_t indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style = Style::kPlain;
  };

  [[nodiscard]] std::vector<std::size_t> widths(std::size_t available) const;
  void append_row(std::string& text, const Row& row, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Lines "key    value", values wrapped and aligned.
[[nodiscard]] std::string key_values(const std::vector<std::pair<std::string, std::string>>& rows);

/// A few lines for each finding, in their order.
[[nodiscard]] std::string findings_text(const std::vector<inspect::CheckFinding>& findings, const Context& context);

}  // namespace leapp::cli
