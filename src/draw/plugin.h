// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/picture.h"

/// What libleapp_draw.so and those who load it agree on. Both sides are built from the same sources: the version is
/// what tells a plugin of another build apart.
namespace leapp::draw {

inline constexpr int kPluginVersion = 1;
inline constexpr const char* kPluginFunction = "leapp_draw_picture";
inline constexpr const char* kPluginLibrary = "libleapp_draw.so";

/// What to draw.
struct Wanted {
  bool png = true;
  bool page = true;
};

/// The files' bytes; empty when not wanted.
struct Drawing {
  std::string png;
  std::string page;
};

/// The function that the plugin exports. False: `error` says why. Never throws; calls wait for each other.
using DrawFunction = bool (*)(int version, const PipelinePicture* picture, const Wanted* wanted, Drawing* drawing,
                              std::string* error);

}  // namespace leapp::draw
