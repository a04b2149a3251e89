// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/layout.h"

namespace leapp::draw {

/// The picture as PNG, by Graphviz, with everything where the layout says.
Result<std::string> render_png(const Boxes& boxes, const PictureLayout& layout);

}  // namespace leapp::draw
