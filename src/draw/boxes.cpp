// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/boxes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "draw/escape.h"

namespace leapp::draw {
namespace {

constexpr std::size_t kNameWidth = 30;  // characters, after which a name goes on in the next line
constexpr std::size_t kTypeWidth = 38;
constexpr std::size_t kTitleWidth = 36;

void add_lines(TableCell& cell, const std::string& text, LineStyle style, std::size_t width) {
  if (text.empty()) return;
  for (std::string& line : wrap(text, width)) cell.lines.push_back({std::move(line), style});
}

TableCell port_cell(const PicturePort& port, const std::string& id, Align align) {
  TableCell cell{.style = CellStyle::kPort, .align = align, .port = id};
  add_lines(cell, port.name, LineStyle::kName, kNameWidth);
  add_lines(cell, port.dtype + " " + port.shape, LineStyle::kType, kTypeWidth);
  add_lines(cell, port.kind, LineStyle::kKind, kTypeWidth);
  return cell;
}

std::string count_text(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string subtitle(const PictureNode& node) {
  std::vector<std::string> parts;
  parts.push_back(node.backend.empty() ? "no model" : node.backend);
  if (node.operators_known) parts.push_back(count_text(node.operators.size(), "operator"));
  if (node.bytes) parts.push_back(bytes_text(*node.bytes));
  if (node.fails()) parts.push_back(fmt::format("validation {}", check_status_name(*node.status)));
  return join(parts, " · ");
}

Box node_box(const PictureNode& node, std::size_t index) {
  Box box{.id = fmt::format("b{}", index), .kind = BoxKind::kNode, .node = index};
  TableCell title{
      .style = node.fails() ? CellStyle::kFailedTitle : CellStyle::kTitle, .align = Align::kCenter, .columns = 2};
  add_lines(title, node.name, LineStyle::kTitle, kTitleWidth);
  add_lines(title, subtitle(node), LineStyle::kSubtitle, kTypeWidth + 10);
  box.rows.push_back({std::move(title)});
  const std::size_t rows = std::max({node.inputs.size(), node.outputs.size(), std::size_t{1}});
  const auto add = [&](std::vector<TableCell>& row, std::size_t i, bool output) {
    const std::vector<PicturePort>& ports = output ? node.outputs : node.inputs;
    if (i < ports.size()) {
      row.push_back(
          port_cell(ports[i], fmt::format("{}{}", output ? 'o' : 'i', i), output ? Align::kRight : Align::kLeft));
    } else if (i == ports.size()) {
      row.push_back({.style = CellStyle::kBlank, .rows = static_cast<int>(rows - i)});
    }
  };
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<TableCell>& row = box.rows.emplace_back();
    add(row, i, false);
    add(row, i, true);
  }
  return box;
}

/// What the caller gives to a node, or gets from it, as a box of its own, and the links between the two.
void add_stub(Boxes& boxes, const PictureNode& node, std::size_t index, bool output) {
  Box box{.id = fmt::format("{}{}", output ? "out" : "in", index),
          .kind = output ? BoxKind::kOutputs : BoxKind::kInputs,
          .node = index};
  const std::vector<PicturePort>& ports = output ? node.outputs : node.inputs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].external) continue;
    const std::string stub = fmt::format("s{}", i);
    const std::string port = fmt::format("{}{}", output ? 'o' : 'i', i);
    TableCell cell{.style = output ? CellStyle::kOutput : CellStyle::kInput, .align = Align::kCenter, .port = stub};
    add_lines(cell, ports[i].name, LineStyle::kStub, kNameWidth);
    box.rows.push_back({std::move(cell)});
    const std::size_t own = boxes.boxes.size();
    boxes.links.push_back(output ? Link{.from_box = index, .from_port = port, .to_box = own, .to_port = stub}
                                 : Link{.from_box = own, .from_port = stub, .to_box = index, .to_port = port});
  }
  if (!box.rows.empty()) boxes.boxes.push_back(std::move(box));
}

Box heading_box(const PipelinePicture& picture) {
  Box box{.id = "heading", .kind = BoxKind::kHeading};
  TableCell cell;
  add_lines(cell, picture.name, LineStyle::kHeading, 60);
  const auto feedback = static_cast<std::size_t>(
      std::count_if(picture.edges.begin(), picture.edges.end(), [](const PictureEdge& edge) { return edge.feedback; }));
  std::vector<std::string> parts = {count_text(picture.nodes.size(), "node"),
                                    count_text(picture.edges.size() - feedback, "data edge"),
                                    count_text(feedback, "feedback edge")};
  for (const auto& [label, text] : picture.facts) parts.push_back(label + " " + text);
  add_lines(cell, join(parts, " · "), LineStyle::kFacts, 90);
  box.rows.push_back({std::move(cell)});
  return box;
}

Box legend_box() {
  Box box{.id = "legend", .kind = BoxKind::kLegend};
  const auto cell = [](std::vector<Line> lines, CellStyle style) {
    return TableCell{.lines = std::move(lines), .style = style, .align = Align::kCenter};
  };
  TableCell port =
      cell({{"port name", LineStyle::kName}, {"dtype [shape]", LineStyle::kType}, {"kind", LineStyle::kKind}},
           CellStyle::kPort);
  port.align = Align::kLeft;
  box.rows.push_back({
      std::move(port),
      cell({{"───▶", LineStyle::kData}, {"data, same step", LineStyle::kCaption}}, CellStyle::kPlain),
      cell({{"╌╌╌▶", LineStyle::kFeedback}, {"feedback, next step", LineStyle::kCaption}}, CellStyle::kPlain),
      cell({{"pipeline input", LineStyle::kStub}}, CellStyle::kInput),
      cell({{"pipeline output", LineStyle::kStub}}, CellStyle::kOutput),
  });
  return box;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 || value >= 99.95 ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                     : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Boxes make_boxes(const PipelinePicture& picture) {
  Boxes boxes;
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) boxes.boxes.push_back(node_box(picture.nodes[i], i));
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    add_stub(boxes, picture.nodes[i], i, false);
    add_stub(boxes, picture.nodes[i], i, true);
  }
  for (std::size_t i = 0; i < picture.edges.size(); ++i) {
    const PictureEdge& edge = picture.edges[i];
    boxes.links.push_back({.from_box = edge.from_node,
                           .from_port = fmt::format("o{}", edge.from_port),
                           .to_box = edge.to_node,
                           .to_port = fmt::format("i{}", edge.to_port),
                           .feedback = edge.feedback,
                           .edge = i});
  }
  boxes.heading = heading_box(picture);
  boxes.legend = legend_box();
  return boxes;
}

}  // namespace leapp::draw
