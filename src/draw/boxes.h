// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "draw/picture.h"

/// The tables that a picture consists of, before anyone knows where they stand.
namespace leapp::draw {

enum class LineStyle { kHeading, kFacts, kTitle, kSubtitle, kName, kType, kKind, kStub, kCaption, kData, kFeedback };
enum class CellStyle { kPlain, kTitle, kFailedTitle, kPort, kBlank, kInput, kOutput };
enum class Align { kLeft, kCenter, kRight };

struct Line {
  std::string text;
  LineStyle style = LineStyle::kName;
};

struct TableCell {
  std::vector<Line> lines;
  CellStyle style = CellStyle::kPlain;
  Align align = Align::kLeft;
  std::string port;  ///< what an edge holds on to: "i0", "o2"; empty: none does
  int columns = 1;
  int rows = 1;
};

enum class BoxKind { kNode, kInputs, kOutputs, kHeading, kLegend };

struct Box {
  std::string id;
  BoxKind kind = BoxKind::kNode;
  std::size_t node = 0;  ///< of the picture: itself, or whose pipeline inputs or outputs these are
  std::vector<std::vector<TableCell>> rows;
};

/// An edge between cells.
struct Link {
  std::size_t from_box = 0;
  std::string from_port;
  std::size_t to_box = 0;
  std::string to_port;
  bool feedback = false;
  std::optional<std::size_t> edge;  ///< of the picture; none: to or from the pipeline's caller
};

struct Boxes {
  std::vector<Box> boxes;  ///< nodes, at the picture's positions, then pipeline inputs and outputs
  std::vector<Link> links;
  Box heading;
  Box legend;
};

[[nodiscard]] Boxes make_boxes(const PipelinePicture& picture);

/// "1.2 MB"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace leapp::draw
