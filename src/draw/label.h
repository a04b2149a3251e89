// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/boxes.h"

namespace leapp::draw {

/// The box as an HTML-like label of Graphviz, without the outer angle brackets. Every cell is filled, so that a layout
/// can be asked for where it is.
[[nodiscard]] std::string label_of(const Box& box);

/// Colours of links, for Graphviz.
[[nodiscard]] const char* link_colour(const Link& link);

}  // namespace leapp::draw
