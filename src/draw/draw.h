// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "draw/picture.h"
#include "draw/plugin.h"
#include "leapp/base/status.h"

namespace leapp::draw {

/// Loads libleapp_draw.so (from LEAPP_DRAW_LIBRARY, from beside this library, from .. and ../lib, or from where the
/// loader looks) and draws. The first call loads Graphviz; nothing else in LEAPP does. kNotFound when the plugin or
/// Graphviz is not there, and the message says which. May be called from any thread.
Result<Drawing> draw(const PipelinePicture& picture, const Wanted& wanted);

}  // namespace leapp::draw
