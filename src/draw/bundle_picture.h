// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/picture.h"
#include "leapp/bundle/spec.h"

namespace leapp::draw {

/// What a bundle's YAML tells: nodes, ports and edges. Wiring that cannot be drawn (a port that is not there) becomes a
/// finding. Sizes, operators and times are left to whoever knows them.
[[nodiscard]] PipelinePicture picture_of(const bundle::BundleSpec& spec, const std::string& name);

/// "[1, 48]"
[[nodiscard]] std::string spaced_shape(const std::vector<std::int64_t>& shape);

/// An operator's line from "walk.py:12"; anything else is the text of an unknown line.
[[nodiscard]] PictureLine parse_line(const std::string& text);

}  // namespace leapp::draw
