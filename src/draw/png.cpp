// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/png.h"

#include <fmt/format.h>

#include <algorithm>

#include "draw/graphviz.h"
#include "draw/label.h"
#include "draw/measure.h"

namespace leapp::draw {
namespace {

constexpr double kDotsPerInch = 144;
constexpr double kLargestSide = 16000;  // cairo draws no more than 32767

std::string placed_text(const Box& box, const Rect& place, double height) {
  return fmt::format("{} [pos=\"{:.2f},{:.2f}\" label=<{}>]\n", box.id, place.x + place.width / 2,
                     height - place.y - place.height / 2, label_of(box));
}

std::string link_text(const Boxes& boxes, const Link& link, const Polyline& path, double height) {
  std::string pos = fmt::format("e,{:.2f},{:.2f}", path.tip.x, height - path.tip.y);
  for (const Point& point : path.points) pos += fmt::format(" {:.2f},{:.2f}", point.x, height - point.y);
  return fmt::format("{} -> {} [pos=\"{}\" color=\"{}\"{}]\n", boxes.boxes[link.from_box].id,
                     boxes.boxes[link.to_box].id, pos, link_colour(link), link.feedback ? " style=dashed" : "");
}

}  // namespace

Result<std::string> render_png(const Boxes& boxes, const PictureLayout& layout) {
  const double longest = std::max({layout.width, layout.height, 1.0}) / 72;
  std::string text = dot_head() + fmt::format("pad=0.25\ndpi={:.1f}\n", std::min(kDotsPerInch, kLargestSide / longest));
  text += placed_text(boxes.heading, layout.heading.place, layout.height);
  text += placed_text(boxes.legend, layout.legend.place, layout.height);
  for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
    text += placed_text(boxes.boxes[i], layout.boxes[i].place, layout.height);
  }
  for (std::size_t i = 0; i < boxes.links.size(); ++i) {
    text += link_text(boxes, boxes.links[i], layout.paths[i], layout.height);
  }
  LEAPP_ASSIGN_OR_RETURN(const GraphvizGraph graph, GraphvizGraph::layout(text + "}\n", LayoutEngine::kPlaced));
  return graph.render("png");
}

}  // namespace leapp::draw
