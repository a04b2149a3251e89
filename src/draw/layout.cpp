// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "draw/fold.h"
#include "draw/measure.h"
#include "draw/route.h"

namespace leapp::draw {
namespace {

constexpr double kColumnGap = 54;
constexpr double kBoxGap = 21.6;  // what dot keeps between boxes of a column
constexpr double kOutsideGap = 18;

/// The edges that dot may draw are those that lead to a later column of the same band.
class Arrangement {
 public:
  explicit Arrangement(const Boxes& boxes) : boxes_(boxes) {}

  Result<PictureLayout> run() {
    if (boxes_.boxes.empty()) return finish();
    for (std::size_t i = 0; i < boxes_.boxes.size(); ++i) whole_.members.push_back(i);
    for (std::size_t i = 0; i < boxes_.links.size(); ++i) {
      const Link& link = boxes_.links[i];
      if (!link.feedback && link.from_box != link.to_box) whole_.links.push_back(i);
    }
    whole_.boxes = &boxes_;
    whole_.column_gap = kColumnGap;
    LEAPP_ASSIGN_OR_RETURN(DotAnswer answer, run_dot(whole_));
    layout_.paths.resize(boxes_.links.size());
    for (BoxShape& shape : answer.shapes) layout_.boxes.push_back({{}, std::move(shape)});
    find_columns(answer);
    choose_bands();
    if (band_count_ == 1) LEAPP_RETURN_IF_ERROR(take_whole(answer));
    if (band_count_ != 1) LEAPP_RETURN_IF_ERROR(arrange_bands(kColumnGap));
    if (const double gap = needed_gap(bands_, routes()); gap > kColumnGap) LEAPP_RETURN_IF_ERROR(arrange_bands(gap));
    return finish();
  }

 private:
  /// dot centres the boxes of a column on one line.
  void find_columns(const DotAnswer& answer) {
    std::map<long, std::size_t> centres;
    for (const Rect& place : answer.places) centres.emplace(std::lround(place.x + place.width / 2), 0);
    std::size_t next = 0;
    for (auto& [centre, column] : centres) column = next++;
    for (const Rect& place : answer.places) columns_.push_back(centres.at(std::lround(place.x + place.width / 2)));
    column_count_ = centres.size();
  }

  /// Pipeline inputs and outputs go with their node.
  void choose_bands() {
    std::vector<ColumnSize> sizes(column_count_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const BoxShape& shape = layout_.boxes[i].shape;
      ColumnSize& size = sizes[columns_[i]];
      size.width = std::max(size.width, shape.width);
      size.height += shape.height + kBoxGap;
    }
    const std::vector<std::size_t> rows = fold(sizes, kColumnGap);
    std::map<std::size_t, std::size_t> used;  // a row may be left with nothing but what goes with other rows' nodes
    for (const Box& box : boxes_.boxes) used.emplace(rows[columns_[box.node]], 0);
    std::size_t next = 0;
    for (auto& [row, band] : used) band = next++;
    for (const Box& box : boxes_.boxes) bands_of_.push_back(used.at(rows[columns_[box.node]]));
    band_count_ = next;
  }

  [[nodiscard]] bool is_direct(const Link& link) const {
    return !link.feedback && bands_of_[link.from_box] == bands_of_[link.to_box] &&
           columns_[link.from_box] < columns_[link.to_box];
  }

  Status take_whole(const DotAnswer& answer) {
    bands_.assign(1, {});
    DotRequest all = whole_;
    all.columns.resize(column_count_);
    for (std::size_t i = 0; i < columns_.size(); ++i) all.columns[columns_[i]].push_back(i);
    take_band(0, all, answer);
    return {};
  }

  Status arrange_bands(double gap) {
    bands_.assign(band_count_, {});
    for (std::size_t band = 0; band < band_count_; ++band) {
      DotRequest request{.boxes = &boxes_, .column_gap = gap};
      std::map<std::size_t, std::vector<std::size_t>> columns;
      for (std::size_t i = 0; i < boxes_.boxes.size(); ++i) {
        if (bands_of_[i] != band) continue;
        request.members.push_back(i);
        columns[columns_[i]].push_back(i);
      }
      for (auto& [column, members] : columns) request.columns.push_back(std::move(members));
      for (std::size_t i = 0; i < boxes_.links.size(); ++i) {
        if (is_direct(boxes_.links[i]) && bands_of_[boxes_.links[i].from_box] == band) request.links.push_back(i);
      }
      LEAPP_ASSIGN_OR_RETURN(const DotAnswer answer, run_dot(request));
      take_band(band, request, answer);
    }
    return {};
  }

  void take_band(std::size_t band, const DotRequest& request, const DotAnswer& answer) {
    for (std::size_t i = 0; i < request.members.size(); ++i) layout_.boxes[request.members[i]].place = answer.places[i];
    for (std::size_t i = 0; i < request.links.size(); ++i) layout_.paths[request.links[i]] = answer.paths[i];
    bands_[band].height = answer.height;
    in_band_.resize(boxes_.boxes.size());
    for (std::size_t column = 0; column < request.columns.size(); ++column) {
      Extent extent{1e9, -1e9};
      for (const std::size_t member : request.columns[column]) {
        const Rect& place = layout_.boxes[member].place;
        extent = {std::min(extent.left, place.x), std::max(extent.right, place.right())};
        in_band_[member] = column;
      }
      bands_[band].columns.push_back(extent);
    }
  }

  /// Where an edge touches a box: the middle of the cell's outer side.
  [[nodiscard]] RouteEnd end_of(std::size_t box, const std::string& port, bool right) const {
    const PlacedBox& placed = layout_.boxes[box];
    RouteEnd end{.band = bands_of_[box], .column = in_band_[box], .at = {placed.place.x, placed.place.y}};
    std::size_t index = 0;
    for (const auto& row : boxes_.boxes[box].rows) {
      for (const TableCell& cell : row) {
        if (cell.port == port && index < placed.shape.cells.size()) {
          const Rect& rect = placed.shape.cells[index].rect;
          end.at.x += right ? rect.right() : rect.x;
          end.at.y += rect.y + rect.height / 2;
        }
        ++index;
      }
    }
    return end;
  }

  [[nodiscard]] std::vector<Route> routes() {
    std::vector<Route> routes;
    std::map<std::pair<std::size_t, std::string>, std::size_t> sources;
    routed_links_.clear();
    for (std::size_t i = 0; i < boxes_.links.size(); ++i) {
      const Link& link = boxes_.links[i];
      if (is_direct(link)) continue;
      const std::size_t source =
          sources.emplace(std::pair(link.from_box, link.from_port), sources.size()).first->second;
      routes.push_back({end_of(link.from_box, link.from_port, true), end_of(link.to_box, link.to_port, false), source});
      routed_links_.push_back(i);
    }
    return routes;
  }

  Result<PictureLayout> finish() {
    LEAPP_ASSIGN_OR_RETURN(layout_.heading.shape, measure(boxes_.heading));
    LEAPP_ASSIGN_OR_RETURN(layout_.legend.shape, measure(boxes_.legend));
    const BoxShape& heading = layout_.heading.shape;
    const BoxShape& legend = layout_.legend.shape;
    layout_.heading.place = {0, 0, heading.width, heading.height};
    const std::vector<Route> wanted = routes();
    const Routed routed = run_routes(bands_, wanted, heading.height + kOutsideGap);
    for (std::size_t i = 0; i < routed_links_.size(); ++i) layout_.paths[routed_links_[i]] = routed.paths[i];
    move_bands(routed);
    layout_.body = {0, heading.height + kOutsideGap, routed.right, routed.bottom - heading.height - kOutsideGap};
    layout_.legend.place = {0, routed.bottom + kOutsideGap, legend.width, legend.height};
    layout_.width = std::max({routed.right, heading.width, legend.width});
    layout_.height = layout_.legend.place.bottom();
    return std::move(layout_);
  }

  void move_bands(const Routed& routed) {
    for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
      layout_.boxes[i].place.x += routed.left;
      layout_.boxes[i].place.y += routed.band_tops[bands_of_[i]];
    }
    for (std::size_t i = 0; i < boxes_.links.size(); ++i) {
      if (!is_direct(boxes_.links[i])) continue;
      const double top = routed.band_tops[bands_of_[boxes_.links[i].from_box]];
      Polyline& path = layout_.paths[i];
      for (Point& point : path.points) point = {point.x + routed.left, point.y + top};
      path.tip = {path.tip.x + routed.left, path.tip.y + top};
    }
  }

  const Boxes& boxes_;
  DotRequest whole_;
  PictureLayout layout_;
  std::vector<std::size_t> columns_;  // of the boxes, over the whole pipeline
  std::size_t column_count_ = 0;
  std::vector<std::size_t> bands_of_;  // of the boxes
  std::size_t band_count_ = 0;
  std::vector<std::size_t> in_band_;  // of the boxes: their column within their band
  std::vector<Band> bands_;
  std::vector<std::size_t> routed_links_;
};

// Graphviz takes minutes for some thousands of edges, and hours for what a YAML of 4 MB may have. Nobody could read it.
constexpr std::size_t kMostEdges = 600;
constexpr std::size_t kMostCells = 4096;

Status check_size(const Boxes& boxes) {
  std::size_t cells = 0;
  for (const Box& box : boxes.boxes) {
    for (const auto& row : box.rows) cells += row.size();
  }
  const auto edges = static_cast<std::size_t>(
      std::count_if(boxes.links.begin(), boxes.links.end(), [](const Link& link) { return link.edge.has_value(); }));
  if (boxes.boxes.size() <= kMostBoxes && edges <= kMostEdges && cells <= kMostCells) return {};
  return unimplemented(
      fmt::format("a picture of {} boxes, {} edges and {} cells could not be read: at most {}, {} and {} are drawn; "
                  "leapp inspect shows a bundle as text",
                  boxes.boxes.size(), edges, cells, kMostBoxes, kMostEdges, kMostCells));
}

}  // namespace

Result<PictureLayout> lay_out(const Boxes& boxes) {
  LEAPP_RETURN_IF_ERROR(check_size(boxes));
  return Arrangement(boxes).run();
}

}  // namespace leapp::draw
