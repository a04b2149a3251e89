// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/picture.h"

namespace leapp::draw {

/// One file of HTML with everything in it: style, script, `svg` and the picture's data. It asks nothing of a network.
[[nodiscard]] std::string render_page(const PipelinePicture& picture, const std::string& svg);

/// The data for the page's script, as JSON.
[[nodiscard]] std::string page_data(const PipelinePicture& picture);

}  // namespace leapp::draw
