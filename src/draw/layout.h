// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "draw/boxes.h"
#include "draw/geometry.h"
#include "leapp/base/status.h"

namespace leapp::draw {

struct PlacedBox {
  Rect place;
  BoxShape shape;
};

/// Where everything of a picture is. Lists are in the order of the Boxes'.
struct PictureLayout {
  std::vector<PlacedBox> boxes;
  std::vector<Polyline> paths;  ///< of the links
  Rect body;                    ///< boxes and paths, without heading and legend
  PlacedBox heading;
  PlacedBox legend;
  double width = 0;
  double height = 0;
};

/// Columns and direct edges by dot; long pipelines folded into rows; the other edges in lanes around them.
Result<PictureLayout> lay_out(const Boxes& boxes);

}  // namespace leapp::draw
