// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.h"

#include <gtest/gtest.h>

#include "draw/fold.h"
#include "draw/picture_testing.h"
#include "draw/png.h"

namespace leapp::draw {
namespace {

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

Rect inner(const Rect& rect, double by) {
  return {rect.x + by, rect.y + by, rect.width - 2 * by, rect.height - 2 * by};
}

bool contains(const Rect& rect, const Point& point) {
  return point.x >= rect.x && point.x <= rect.right() && point.y >= rect.y && point.y <= rect.bottom();
}

/// All boxes of the picture, heading and legend included.
std::vector<std::pair<const Box*, const PlacedBox*>> all_boxes(const Boxes& boxes, const PictureLayout& layout) {
  std::vector<std::pair<const Box*, const PlacedBox*>> all = {{&boxes.heading, &layout.heading},
                                                              {&boxes.legend, &layout.legend}};
  for (std::size_t i = 0; i < boxes.boxes.size(); ++i) all.emplace_back(&boxes.boxes[i], &layout.boxes[i]);
  return all;
}

Point on_curve(const Polyline& path, std::size_t segment, double t) {
  const Point* p = &path.points[segment * 3];
  const double s = 1 - t;
  const double a = s * s * s;
  const double b = 3 * s * s * t;
  const double c = 3 * s * t * t;
  const double d = t * t * t;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x, a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

class LayoutTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    picture_ = GetParam() == 0 ? make_hostile() : make_chain(GetParam());
    boxes_ = make_boxes(picture_);
    auto layout = lay_out(boxes_);
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    layout_ = std::move(layout).value();
    ASSERT_EQ(layout_.boxes.size(), boxes_.boxes.size());
    ASSERT_EQ(layout_.paths.size(), boxes_.links.size());
  }

  PipelinePicture picture_;
  Boxes boxes_;
  PictureLayout layout_;
};

TEST_P(LayoutTest, NoBoxesOverlap) {
  const auto all = all_boxes(boxes_, layout_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      EXPECT_FALSE(overlap(all[i].second->place, all[k].second->place))
          << all[i].first->id << " and " << all[k].first->id;
    }
  }
}

TEST_P(LayoutTest, EveryLineOfTextIsInItsCell) {
  for (const auto& [box, placed] : all_boxes(boxes_, layout_)) {
    std::size_t index = 0;
    for (const auto& row : box->rows) {
      for (const TableCell& cell : row) {
        ASSERT_LT(index, placed->shape.cells.size()) << box->id;
        const CellShape& shape = placed->shape.cells[index++];
        ASSERT_EQ(shape.lines.size(), cell.lines.size()) << box->id;
        for (const TextShape& line : shape.lines) {
          EXPECT_TRUE(contains(shape.rect, line.begin)) << box->id;
          EXPECT_TRUE(contains(shape.rect, {line.begin.x + line.width, line.begin.y})) << box->id;
        }
        const Rect whole{-1, -1, placed->shape.width + 2, placed->shape.height + 2};
        EXPECT_TRUE(contains(whole, {shape.rect.x, shape.rect.y})) << box->id;
        EXPECT_TRUE(contains(whole, {shape.rect.right(), shape.rect.bottom()})) << box->id;
      }
    }
  }
}

TEST_P(LayoutTest, EdgesJoinTheirCellsAndRunThroughNoBox) {
  for (std::size_t i = 0; i < boxes_.links.size(); ++i) {
    const Polyline& path = layout_.paths[i];
    ASSERT_EQ(path.points.size() % 3, 1U) << i;
    const Rect& from = layout_.boxes[boxes_.links[i].from_box].place;
    const Rect& to = layout_.boxes[boxes_.links[i].to_box].place;
    EXPECT_TRUE(contains(inner(from, -4), path.points.front())) << i;
    EXPECT_TRUE(contains(inner(to, -4), path.tip)) << i;
    for (std::size_t segment = 0; segment + 1 < path.points.size() / 3 + 1; ++segment) {
      for (double t = 0; t <= 1; t += 0.05) {
        const Point point = on_curve(path, segment, t);
        for (std::size_t box = 0; box < layout_.boxes.size(); ++box) {
          EXPECT_FALSE(contains(inner(layout_.boxes[box].place, 4), point)) << i << " through " << boxes_.boxes[box].id;
        }
      }
    }
  }
}

TEST_P(LayoutTest, EverythingIsInThePicture) {
  const Rect page{-0.5, -0.5, layout_.width + 1, layout_.height + 1};
  for (const auto& [box, placed] : all_boxes(boxes_, layout_)) {
    EXPECT_TRUE(contains(page, {placed->place.x, placed->place.y})) << box->id;
    EXPECT_TRUE(contains(page, {placed->place.right(), placed->place.bottom()})) << box->id;
  }
  for (const Polyline& path : layout_.paths) {
    for (const Point& point : path.points) EXPECT_TRUE(contains(page, point)) << point.x << "," << point.y;
  }
}

TEST_P(LayoutTest, ThePngIsOne) {
  if (GetParam() > 12) GTEST_SKIP() << "takes a second, and shows nothing that smaller ones do not";
  const auto png = render_png(boxes_, layout_);
  ASSERT_TRUE(png.ok()) << png.status().message();
  EXPECT_EQ(png.value().substr(0, 8), "\x89PNG\r\n\x1A\n");
}

INSTANTIATE_TEST_SUITE_P(Sizes, LayoutTest, ::testing::Values(0, 1, 2, 3, 7, 12, 20, 30));

TEST(PictureLayout, ManyPortsAndManyFeedbackEdges) {
  PipelinePicture picture{.name = "wide"};
  for (std::size_t node = 0; node < 3; ++node) {
    PictureNode made{.name = "n" + std::to_string(node)};
    for (std::size_t i = 0; i < 12; ++i) {
      made.inputs.push_back(make_port("in_" + std::to_string(i)));
      made.outputs.push_back(make_port("out_" + std::to_string(i)));
      picture.edges.push_back({node, i, (node + 2) % 3, i, true});
    }
    picture.nodes.push_back(made);
  }
  const Boxes boxes = make_boxes(picture);
  const auto layout = lay_out(boxes);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  for (std::size_t i = 0; i < boxes.links.size(); ++i) {
    for (const Point& point : layout.value().paths[i].points) {
      for (const PlacedBox& box : layout.value().boxes) EXPECT_FALSE(contains(inner(box.place, 1), point)) << i;
    }
  }
}

TEST(PictureLayout, DataThatGoesRoundInACircleIsDrawnAllTheSame) {
  PipelinePicture picture = make_chain(3);
  for (PictureEdge& edge : picture.edges) edge.feedback = false;
  const auto layout = lay_out(make_boxes(picture));
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  for (const Polyline& path : layout.value().paths) EXPECT_FALSE(path.points.empty());
}

TEST(PictureLayout, APipelineWithoutNodes) {
  const auto layout = lay_out(make_boxes({.name = "nothing"}));
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_TRUE(layout.value().boxes.empty());
}

TEST(Fold, OnlyWhatIsTooWide) {
  EXPECT_EQ(fold({{200, 100}, {200, 100}, {200, 100}}, 50), (std::vector<std::size_t>{0, 0, 0}));
  const auto rows = fold(std::vector<ColumnSize>(30, {200, 100}), 50);
  EXPECT_EQ(rows.front(), 0U);
  EXPECT_GE(rows.back(), 3U);
  EXPECT_LE(rows.back(), 8U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST(PictureLayout, WhatNobodyCouldReadIsRefusedAtOnce) {
  const auto layout = lay_out(make_boxes(make_chain(1000)));
  ASSERT_FALSE(layout.ok());
  EXPECT_NE(layout.status().message().find("at most 512, 600 and 4096 are drawn"), std::string::npos);
}

}  // namespace
}  // namespace leapp::draw
