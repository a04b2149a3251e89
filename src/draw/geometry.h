// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

/// Points, 72 to the inch; y grows downwards.
namespace leapp::draw {

struct Point {
  double x = 0;
  double y = 0;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
};

/// A line of text: where it begins, on which base line, and how long Graphviz takes it to be.
struct TextShape {
  Point begin;
  double width = 0;
};

/// A cell of a box, relative to the box's upper left corner.
struct CellShape {
  Rect rect;
  std::vector<TextShape> lines;
};

/// A box with its cells in the order of its rows.
struct BoxShape {
  double width = 0;
  double height = 0;
  std::vector<CellShape> cells;
};

/// Cubic Bezier curves end to end (3n+1 points) and the tip of the arrow behind them.
struct Polyline {
  std::vector<Point> points;
  Point tip;
};

}  // namespace leapp::draw
