// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "draw/boxes.h"
#include "draw/geometry.h"
#include "leapp/base/status.h"

namespace leapp::draw {

/// A part of a picture for one run of dot.
struct DotRequest {
  const Boxes* boxes = nullptr;
  std::vector<std::size_t> members;               ///< of boxes->boxes
  std::vector<std::size_t> links;                 ///< of boxes->links; both ends are members
  std::vector<std::vector<std::size_t>> columns;  ///< members that stand below each other; empty: as dot likes
  double column_gap = 0;                          ///< points between columns
};

/// What dot made of it. Lists are in the order of the request's.
struct DotAnswer {
  std::vector<Rect> places;
  std::vector<BoxShape> shapes;
  std::vector<Polyline> paths;
  double width = 0;
  double height = 0;
};

Result<DotAnswer> run_dot(const DotRequest& request);

/// The shape of a box that stands alone.
Result<BoxShape> measure(const Box& box);

/// What every graph of ours begins with: fonts and the defaults of nodes and edges.
[[nodiscard]] std::string dot_head();

}  // namespace leapp::draw
