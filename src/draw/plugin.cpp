// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/plugin.h"

#include <exception>
#include <mutex>

#include "draw/layout.h"
#include "draw/page.h"
#include "draw/png.h"
#include "draw/svg.h"
#include "leapp/base/export.h"

namespace leapp::draw {
namespace {

Result<Drawing> draw_picture(const PipelinePicture& picture, const Wanted& wanted) {
  const Boxes boxes = make_boxes(picture);
  LEAPP_ASSIGN_OR_RETURN(const PictureLayout layout, lay_out(boxes));
  Drawing drawing;
  if (wanted.png) {
    LEAPP_ASSIGN_OR_RETURN(drawing.png, render_png(boxes, layout));
  }
  if (wanted.page) drawing.page = render_page(picture, render_svg(picture, boxes, layout));
  return drawing;
}

}  // namespace
}  // namespace leapp::draw

extern "C" LEAPP_API bool leapp_draw_picture(int version, const leapp::draw::PipelinePicture* picture,
                                             const leapp::draw::Wanted* wanted, leapp::draw::Drawing* drawing,
                                             std::string* error) {
  if (version != leapp::draw::kPluginVersion) {
    *error = "libleapp_draw.so belongs to another version of LEAPP";
    return false;
  }
  static std::mutex mutex;
  try {
    const std::lock_guard lock(mutex);
    auto result = leapp::draw::draw_picture(*picture, *wanted);
    if (!result.ok()) {
      *error = result.status().message();
      return false;
    }
    *drawing = std::move(result).value();
    return true;
  } catch (const std::exception& caught) {
    *error = caught.what();
    return false;
  }
}
