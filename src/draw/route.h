// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "draw/geometry.h"

/// Edges that dot does not draw: feedback, and edges from one row of a folded pipeline to another. They run in lanes of
/// their own, between columns, between rows and in the left margin, and so never through a box.
///
/// A *band* is one row of the folded pipeline: boxes in columns. *Gap* k of a band is left of its column k. *Channel* k
/// lies above band k; the last one below all of them.
namespace leapp::draw {

struct Extent {
  double left = 0;
  double right = 0;
};

struct Band {
  std::vector<Extent> columns;
  double height = 0;
};

struct RouteEnd {
  std::size_t band = 0;
  std::size_t column = 0;
  Point at;  ///< where the edge touches the box, from the band's upper left corner
};

struct Route {
  RouteEnd from;
  RouteEnd to;
  std::size_t source = 0;  ///< routes from the same port have the same, and share their lanes as far as they go
};

struct Routed {
  double left = 0;  ///< where all bands begin
  std::vector<double> band_tops;
  std::vector<Polyline> paths;  ///< of the routes
  double right = 0;             ///< of everything
  double bottom = 0;
};

/// How far apart columns have to be for all lanes between them.
[[nodiscard]] double needed_gap(const std::vector<Band>& bands, const std::vector<Route>& routes);

/// Lanes for all routes, with the first band at `top` or as far below as they need.
[[nodiscard]] Routed run_routes(const std::vector<Band>& bands, const std::vector<Route>& routes, double top);

}  // namespace leapp::draw
