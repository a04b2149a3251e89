// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/route.h"

#include <gtest/gtest.h>

namespace leapp::draw {
namespace {

std::vector<Band> two_bands() {
  const std::vector<Extent> columns = {{0, 100}, {160, 260}, {320, 420}};
  return {{columns, 80}, {columns, 80}};
}

RouteEnd output_at(std::size_t band, std::size_t column, double y) {
  return {band, column, {static_cast<double>(column) * 160 + 100, y}};
}
RouteEnd input_at(std::size_t band, std::size_t column, double y) {
  return {band, column, {static_cast<double>(column) * 160, y}};
}

TEST(Route, FeedbackGoesBelowItsBand) {
  const Routed routed = run_routes(two_bands(), {{output_at(0, 1, 20), input_at(0, 1, 40), 0}}, 10);
  EXPECT_EQ(routed.band_tops[0], 10);
  double lowest = 0;
  for (const Point& point : routed.paths[0].points) lowest = std::max(lowest, point.y);
  EXPECT_GT(lowest, routed.band_tops[0] + 80);
  EXPECT_LT(lowest, routed.band_tops[1]);
}

TEST(Route, FarBandsAreReachedThroughTheMargin) {
  std::vector<Band> bands = two_bands();
  bands.push_back(bands[0]);
  const Routed routed = run_routes(bands, {{output_at(2, 2, 20), input_at(0, 0, 40), 0}}, 0);
  double leftmost = 1e9;
  for (const Point& point : routed.paths[0].points) leftmost = std::min(leftmost, point.x);
  EXPECT_LT(leftmost, routed.left);
  EXPECT_GE(leftmost, 0);
}

TEST(Route, OnePortsRoutesShareTheirLaneAndOthersDoNot) {
  const Routed shared = run_routes(
      two_bands(), {{output_at(0, 2, 20), input_at(1, 0, 40), 0}, {output_at(0, 2, 20), input_at(1, 1, 40), 0}}, 0);
  EXPECT_EQ(shared.paths[0].points[3].x, shared.paths[1].points[3].x);
  const Routed apart = run_routes(
      two_bands(), {{output_at(0, 2, 20), input_at(1, 0, 40), 0}, {output_at(0, 2, 60), input_at(1, 1, 40), 1}}, 0);
  EXPECT_NE(apart.paths[0].points[3].x, apart.paths[1].points[3].x);
}

TEST(Route, MoreLanesNeedAWiderGap) {
  std::vector<Route> routes;
  for (std::size_t i = 0; i < 3; ++i)
    routes.push_back({output_at(0, 0, 10.0 * static_cast<double>(i)), input_at(0, 1, 5), i});
  const double three = needed_gap(two_bands(), routes);
  for (std::size_t i = 3; i < 12; ++i)
    routes.push_back({output_at(0, 0, 10.0 * static_cast<double>(i)), input_at(0, 1, 5), i});
  EXPECT_GT(needed_gap(two_bands(), routes), three + 9 * 8);
}

}  // namespace
}  // namespace leapp::draw
