// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/layout.h"
#include "draw/picture.h"

namespace leapp::draw {

/// The picture for the page: no colours, only classes, and elements that a script can find:
///   #node-3                 a node; #port-3-i0, #port-3-o1 its ports; #in-3-s0, #out-3-s1 what the caller gives and
///   gets .link[data-from][data-to]   an edge, with the ids of what it joins, and data-edge for one between nodes
/// Heading and legend are left to the page.
[[nodiscard]] std::string render_svg(const PipelinePicture& picture, const Boxes& boxes, const PictureLayout& layout);

}  // namespace leapp::draw
