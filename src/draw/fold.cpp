// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/fold.h"

#include <algorithm>

namespace leapp::draw {
namespace {

// A4 less its margins, in points.
constexpr double kLongSide = 770;
constexpr double kShortSide = 540;
constexpr double kRowGap = 60;
constexpr double kOutside = 110;   // heading and legend
constexpr double kReadable = 0.7;  // the smallest letters are then 6 points high
// More rows are harder to follow: they have to be worth it.
constexpr double kWorthIt = 1.12;

using Rows = std::vector<std::size_t>;

/// Fills rows up to `width` from left to right.
Rows fill(const std::vector<ColumnSize>& columns, double gap, double width) {
  Rows rows;
  double used = 0;
  std::size_t row = 0;
  for (const ColumnSize& column : columns) {
    if (used > 0 && used + gap + column.width > width) {
      ++row;
      used = 0;
    }
    used += (used > 0 ? gap : 0) + column.width;
    rows.push_back(row);
  }
  return rows;
}

/// How much the picture has to be scaled to fit on the sheet, whichever way round; what can be read is good enough.
double scale(const std::vector<ColumnSize>& columns, const Rows& rows, double gap) {
  std::vector<double> widths(rows.back() + 1, 0);
  std::vector<double> heights(rows.back() + 1, 0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths[rows[i]] += (widths[rows[i]] > 0 ? gap : 0) + columns[i].width;
    heights[rows[i]] = std::max(heights[rows[i]], columns[i].height);
  }
  const double width = *std::max_element(widths.begin(), widths.end());
  double height = kOutside;
  for (const double row : heights) height += row + kRowGap;
  return std::min(kReadable, std::max(std::min(kLongSide / width, kShortSide / height),
                                      std::min(kShortSide / width, kLongSide / height)));
}

}  // namespace

std::vector<std::size_t> fold(const std::vector<ColumnSize>& columns, double gap) {
  Rows best(columns.size(), 0);
  if (columns.empty()) return best;
  double best_scale = scale(columns, best, gap);
  // Every stretch of columns is a candidate for the widest row.
  for (std::size_t first = 0; first < columns.size(); ++first) {
    double width = 0;
    for (std::size_t last = first; last < columns.size(); ++last) {
      width += (last > first ? gap : 0) + columns[last].width;
      const Rows rows = fill(columns, gap, width);
      const double found = scale(columns, rows, gap);
      const double worth = rows.back() > best.back() ? kWorthIt : 1.0;
      if (found > best_scale * worth || (found >= best_scale * 0.999 && rows.back() < best.back())) {
        best = rows;
        best_scale = found;
      }
    }
  }
  return best;
}

}  // namespace leapp::draw
