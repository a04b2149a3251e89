// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/label.h"

#include <fmt/format.h>

#include "draw/escape.h"

namespace leapp::draw {
namespace {

struct TextLook {
  int size;
  const char* colour;
  const char* open = "";
  const char* close = "";
};

TextLook look(LineStyle style) {
  switch (style) {
    case LineStyle::kHeading:
      return {18, "#16202b", "<B>", "</B>"};
    case LineStyle::kFacts:
      return {10, "#4b5763"};
    case LineStyle::kTitle:
      return {12, "#ffffff", "<B>", "</B>"};
    case LineStyle::kSubtitle:
      return {9, "#e3ebf3"};
    case LineStyle::kName:
      return {11, "#16202b", "<B>", "</B>"};
    case LineStyle::kType:
      return {9, "#4b5763"};
    case LineStyle::kKind:
      return {9, "#1d5c8f", "<I>", "</I>"};
    case LineStyle::kStub:
      return {11, "#16202b"};
    case LineStyle::kCaption:
      return {9, "#4b5763"};
    case LineStyle::kData:
      return {11, "#2b3947"};
    case LineStyle::kFeedback:
      return {11, "#b04a12"};
  }
  return {11, "#000000"};
}

const char* fill(CellStyle style) {
  switch (style) {
    case CellStyle::kPlain:
      return "#fffffe";
    case CellStyle::kTitle:
      return "#24476b";
    case CellStyle::kFailedTitle:
      return "#a3231f";
    case CellStyle::kPort:
      return "#ffffff";
    case CellStyle::kBlank:
      return "#f1f4f7";
    case CellStyle::kInput:
      return "#dcefe0";
    case CellStyle::kOutput:
      return "#fbe9c6";
  }
  return "#ffffff";
}

const char* align_text(Align align) {
  return align == Align::kLeft ? "LEFT" : align == Align::kRight ? "RIGHT" : "CENTER";
}

/// One line, one row of a table in the cell: lines of different sizes then keep their distance.
std::string line_row(const Line& line, Align align) {
  const TextLook text = look(line.style);
  return fmt::format(R"(<TR><TD ALIGN="{}"><FONT POINT-SIZE="{}" COLOR="{}">{}{}{}</FONT></TD></TR>)",
                     align_text(align), text.size, text.colour, text.open, escape_label(line.text), text.close);
}

std::string cell_text(const TableCell& cell) {
  std::string text = fmt::format(R"(<TD BGCOLOR="{}" ALIGN="{}")", fill(cell.style), align_text(cell.align));
  if (!cell.port.empty()) text += fmt::format(R"( PORT="{}")", cell.port);
  if (cell.columns > 1) text += fmt::format(R"( COLSPAN="{}")", cell.columns);
  if (cell.rows > 1) text += fmt::format(R"( ROWSPAN="{}")", cell.rows);
  if (cell.style == CellStyle::kPlain) text += R"( BORDER="0")";
  text += ">";
  if (!cell.lines.empty()) {
    // Fixed: the lines stay together when a neighbour makes the cell higher than they need.
    text +=
        fmt::format(R"(<TABLE FIXEDSIZE="TRUE" ALIGN="{}" BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="0">)",
                    align_text(cell.align));
    for (const Line& line : cell.lines) text += line_row(line, cell.align);
    text += "</TABLE>";
  }
  return text + "</TD>";
}

}  // namespace

std::string label_of(const Box& box) {
  const int spacing = box.kind == BoxKind::kLegend ? 8 : box.kind == BoxKind::kNode ? 0 : 3;
  std::string text =
      fmt::format(R"(<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="{}" CELLPADDING="4" COLOR="#7c8894">)", spacing);
  for (const auto& row : box.rows) {
    text += "<TR>";
    for (const TableCell& cell : row) text += cell_text(cell);
    text += "</TR>";
  }
  return text + "</TABLE>";
}

const char* link_colour(const Link& link) { return link.feedback ? "#b04a12" : link.edge ? "#2b3947" : "#6d7a86"; }

}  // namespace leapp::draw
