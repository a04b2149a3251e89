// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/measure.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "draw/graphviz.h"
#include "draw/label.h"

namespace leapp::draw {
namespace {

using Json = nlohmann::json;

std::string node_text(const Box& box) { return fmt::format("{} [label=<{}>]\n", box.id, label_of(box)); }

std::string dot_text(const DotRequest& request) {
  const Boxes& all = *request.boxes;
  std::string text = dot_head() + fmt::format("rankdir=LR\nnodesep=0.3\nranksep={:.3f}\n", request.column_gap / 72);
  for (const std::size_t member : request.members) text += node_text(all.boxes[member]);
  for (const std::size_t index : request.links) {
    const Link& link = all.links[index];
    text += fmt::format("{}:{}:e -> {}:{}:w [id=e{}]\n", all.boxes[link.from_box].id, link.from_port,
                        all.boxes[link.to_box].id, link.to_port, index);
  }
  for (std::size_t i = 0; i < request.columns.size(); ++i) {
    text += "{rank=same";
    for (const std::size_t member : request.columns[i]) text += "; " + all.boxes[member].id;
    text += "}\n";
    if (i == 0) continue;
    text += fmt::format("{} -> {} [style=invis]\n", all.boxes[request.columns[i - 1].front()].id,
                        all.boxes[request.columns[i].front()].id);
  }
  return text + "}\n";
}

/// The number at the front of `text`, which is taken off with the comma behind it. In no locale but C's.
double take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(',')) text.remove_prefix(1);
  return error == std::errc() ? value : 0;
}

/// "e,7,8 1,2 3,4": points, of which the one behind "e," is the tip.
Polyline parse_path(const std::string& text, double height) {
  Polyline path;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool tip = word.starts_with("e,");
    std::string_view rest = std::string_view(word).substr(tip ? 2 : 0);
    Point point;
    point.x = take_number(rest);
    point.y = height - take_number(rest);
    if (tip) {
      path.tip = point;
    } else {
      path.points.push_back(point);
    }
  }
  return path;
}

Rect bounds(const Json& points, double height) {
  double left = 1e9;
  double right = -1e9;
  double top = 1e9;
  double bottom = -1e9;
  for (const Json& point : points) {
    left = std::min(left, point.at(0).get<double>());
    right = std::max(right, point.at(0).get<double>());
    top = std::min(top, height - point.at(1).get<double>());
    bottom = std::max(bottom, height - point.at(1).get<double>());
  }
  return {left, top, right - left, bottom - top};
}

/// The filled polygons are the cells, in order; the texts behind one are its lines.
BoxShape parse_shape(const Json& object, const Rect& place, double height) {
  BoxShape shape{.width = place.width, .height = place.height};
  for (const Json& operation : object.at("_ldraw_")) {
    const std::string& kind = operation.at("op").get_ref<const std::string&>();
    if (kind == "P") {
      Rect rect = bounds(operation.at("points"), height);
      rect.x -= place.x;
      rect.y -= place.y;
      shape.cells.push_back({rect, {}});
    } else if (kind == "T" && !shape.cells.empty()) {
      const Json& point = operation.at("pt");
      shape.cells.back().lines.push_back(
          {{point.at(0).get<double>() - place.x, height - point.at(1).get<double>() - place.y},
           operation.at("width").get<double>()});
    }
  }
  return shape;
}

double number(const Json& object, const char* key) {
  std::string_view text = object.at(key).get_ref<const std::string&>();
  return take_number(text);
}

DotAnswer parse_answer(const DotRequest& request, const std::string& text) {
  const Json root = Json::parse(text);
  DotAnswer answer;
  std::string_view box = root.at("bb").get_ref<const std::string&>();
  take_number(box);
  take_number(box);
  answer.width = take_number(box);
  answer.height = take_number(box);

  std::map<std::string, const Json*> objects;
  for (const Json& object : root.at("objects")) objects.emplace(object.at("name").get<std::string>(), &object);
  for (const std::size_t member : request.members) {
    const Json& object = *objects.at(request.boxes->boxes[member].id);
    const Polyline centre = parse_path(object.at("pos").get<std::string>(), answer.height);
    const double width = number(object, "width") * 72;
    const double height = number(object, "height") * 72;
    const Point& middle = centre.points.at(0);
    answer.places.push_back({middle.x - width / 2, middle.y - height / 2, width, height});
    answer.shapes.push_back(parse_shape(object, answer.places.back(), answer.height));
  }
  std::map<std::string, Polyline> paths;
  for (const Json& edge : root.value("edges", Json::array())) {
    if (edge.contains("id"))
      paths[edge.at("id").get<std::string>()] = parse_path(edge.at("pos").get<std::string>(), answer.height);
  }
  for (const std::size_t link : request.links) answer.paths.push_back(paths.at(fmt::format("e{}", link)));
  return answer;
}

}  // namespace

std::string dot_head() {
  return "digraph pipeline {\nfontname=\"DejaVu Sans\"\noutputorder=edgesfirst\n"
         "node [shape=plain fontname=\"DejaVu Sans\" fontsize=11]\n"
         "edge [arrowsize=0.7 penwidth=1.3 fontname=\"DejaVu Sans\"]\n";
}

Result<DotAnswer> run_dot(const DotRequest& request) {
  LEAPP_ASSIGN_OR_RETURN(const GraphvizGraph graph, GraphvizGraph::layout(dot_text(request), LayoutEngine::kDot));
  LEAPP_ASSIGN_OR_RETURN(const std::string text, graph.render("json"));
  try {
    return parse_answer(request, text);
  } catch (const std::exception& error) {  // of the JSON reader, and of `at`
    return internal_error(fmt::format("Graphviz describes its layout in a way we do not know: {}", error.what()));
  }
}

Result<BoxShape> measure(const Box& box) {
  const Boxes alone{.boxes = {box}};
  LEAPP_ASSIGN_OR_RETURN(DotAnswer answer, run_dot({.boxes = &alone, .members = {0}}));
  return std::move(answer.shapes.front());
}

}  // namespace leapp::draw
