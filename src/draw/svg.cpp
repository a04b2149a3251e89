// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.h"

#include <fmt/format.h>

#include <cmath>

#include "draw/escape.h"

namespace leapp::draw {
namespace {

constexpr double kMargin = 14;
constexpr double kHeadWidth = 3;  // half of an arrow head's base

const char* class_of(LineStyle style) {
  switch (style) {
    case LineStyle::kTitle:
      return "title";
    case LineStyle::kSubtitle:
      return "subtitle";
    case LineStyle::kType:
      return "type";
    case LineStyle::kKind:
      return "kind";
    case LineStyle::kStub:
      return "stub";
    default:
      return "name";
  }
}

const char* class_of(CellStyle style) {
  switch (style) {
    case CellStyle::kTitle:
      return "title";
    case CellStyle::kFailedTitle:
      return "title failed";
    case CellStyle::kBlank:
      return "blank";
    case CellStyle::kInput:
      return "stub input";
    case CellStyle::kOutput:
      return "stub output";
    default:
      return "port";
  }
}

std::string element_id(const Box& box, const std::string& port) {
  switch (box.kind) {
    case BoxKind::kInputs:
      return fmt::format("in-{}-{}", box.node, port);
    case BoxKind::kOutputs:
      return fmt::format("out-{}-{}", box.node, port);
    default:
      return fmt::format("port-{}-{}", box.node, port);
  }
}

const PicturePort& port_of(const PictureNode& node, const std::string& port) {
  const auto index = static_cast<std::size_t>(std::stoul(port.substr(1)));
  return port.front() == 'o' ? node.outputs[index] : node.inputs[index];
}

/// What a screen reader says.
std::string spoken(const PipelinePicture& picture, const Box& box, const std::string& port) {
  const PictureNode& node = picture.nodes[box.node];
  if (box.kind == BoxKind::kNode) {
    const PicturePort& shown = port_of(node, port);
    return fmt::format("{} {} of {}: {} {} {}", port.front() == 'o' ? "output" : "input", shown.name, node.name,
                       shown.dtype, shown.shape, shown.kind);
  }
  const bool output = box.kind == BoxKind::kOutputs;
  const PicturePort& shown = port_of(node, (output ? "o" : "i") + port.substr(1));
  return fmt::format("pipeline {} {} of {}", output ? "output" : "input", shown.name, node.name);
}

/// The length is Graphviz's: whatever font the reader has, the text stays in its cell.
std::string text_element(const Line& line, const TextShape& shape, const Rect& place) {
  return fmt::format(
      R"(<text class="{}" x="{:.1f}" y="{:.1f}" textLength="{:.1f}" lengthAdjust="spacingAndGlyphs">{}</text>)",
      class_of(line.style), place.x + shape.begin.x, place.y + shape.begin.y, shape.width, escape_xml(line.text));
}

std::string cell_element(const TableCell& cell, const CellShape& shape, const Rect& place) {
  std::string text =
      fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", class_of(cell.style),
                  place.x + shape.rect.x, place.y + shape.rect.y, shape.rect.width, shape.rect.height);
  for (std::size_t i = 0; i < cell.lines.size() && i < shape.lines.size(); ++i) {
    text += text_element(cell.lines[i], shape.lines[i], place);
  }
  return text;
}

std::string box_element(const PipelinePicture& picture, const Box& box, const PlacedBox& placed) {
  std::string text;
  if (box.kind == BoxKind::kNode) {
    text =
        fmt::format(R"(<g class="node" id="node-{}" data-node="{}" tabindex="0" role="button" aria-label="node {}">)",
                    box.node, box.node, escape_xml(picture.nodes[box.node].name));
  } else {
    text =
        fmt::format(R"(<g class="{}" data-node="{}">)", box.kind == BoxKind::kInputs ? "inputs" : "outputs", box.node);
  }
  std::size_t index = 0;
  for (const auto& row : box.rows) {
    for (const TableCell& cell : row) {
      if (index >= placed.shape.cells.size()) break;
      const std::string element = cell_element(cell, placed.shape.cells[index++], placed.place);
      text += cell.port.empty()
                  ? element
                  : fmt::format(
                        "\n"
                        R"(<g class="port" id="{}" data-node="{}" tabindex="0" role="button" aria-label="{}">{}</g>)",
                        element_id(box, cell.port), box.node, escape_xml(spoken(picture, box, cell.port)), element);
    }
  }
  return text + "</g>\n";
}

std::string curve(const Polyline& path) {
  std::string text;
  for (std::size_t i = 0; i < path.points.size(); ++i) {
    text += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "M" : i % 3 == 1 ? "C" : " ", path.points[i].x, path.points[i].y);
  }
  return text;
}

std::string head(const Polyline& path) {
  const Point from = path.points.back();
  const double length = std::max(0.1, std::hypot(path.tip.x - from.x, path.tip.y - from.y));
  const double across_x = -(path.tip.y - from.y) / length * kHeadWidth;
  const double across_y = (path.tip.x - from.x) / length * kHeadWidth;
  return fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", from.x + across_x, from.y + across_y, path.tip.x,
                     path.tip.y, from.x - across_x, from.y - across_y);
}

std::string link_element(const Boxes& boxes, std::size_t index, const Polyline& path) {
  if (path.points.empty()) return "";
  const Link& link = boxes.links[index];
  const std::string from = element_id(boxes.boxes[link.from_box], link.from_port);
  const std::string to = element_id(boxes.boxes[link.to_box], link.to_port);
  std::string text = fmt::format(R"(<g class="link{}" id="link-{}" data-from="{}" data-to="{}")",
                                 link.feedback ? " feedback"
                                 : link.edge   ? ""
                                               : " outer",
                                 index, from, to);
  if (link.edge) text += fmt::format(R"( data-edge="{}" tabindex="0" role="button")", *link.edge);
  return text +
         fmt::format(
             R"(><path class="hit" d="{0}"/><path class="line" d="{0}"/><polygon class="head" points="{1}"/></g>)"
             "\n",
             curve(path), head(path));
}

}  // namespace

std::string render_svg(const PipelinePicture& picture, const Boxes& boxes, const PictureLayout& layout) {
  const Rect& body = layout.body;
  std::string text = fmt::format(
      R"(<svg id="picture" xmlns="http://www.w3.org/2000/svg" viewBox="{:.0f} {:.0f} {:.0f} {:.0f}" role="group" aria-label="pipeline {}">)"
      "\n<g id=\"boxes\">\n",
      body.x - kMargin, body.y - kMargin, body.width + 2 * kMargin, body.height + 2 * kMargin,
      escape_xml(picture.name));
  for (std::size_t i = 0; i < boxes.boxes.size(); ++i) text += box_element(picture, boxes.boxes[i], layout.boxes[i]);
  text += "</g>\n<g id=\"links\">\n";
  for (std::size_t i = 0; i < boxes.links.size(); ++i) text += link_element(boxes, i, layout.paths[i]);
  return text + "</g>\n</svg>";
}

}  // namespace leapp::draw
