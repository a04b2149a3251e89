// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/data_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exporter/simplify.h"
#include "graph/masks/dense_rows.h"

namespace leapp::exporter {
namespace {

using graph::DataLength;

using Line = std::pair<std::string, int>;

Line place_of(const graph::SourceLocation& place) { return {place.file, place.line}; }

std::string before(const graph::SourceLocation& place) {
  return place.file.empty() ? "" : fmt::format("{}:{}: ", place.file, place.line);
}

std::string behind(const graph::SourceLocation& place) {
  return place.file.empty() ? "" : fmt::format(" at {}:{}", place.file, place.line);
}

Status check_outputs(const graph::Graph& graph) {
  const std::vector<const graph::Node*> because = graph::outputs_of_data_length(graph);
  for (std::size_t i = 0; i < because.size(); ++i) {
    if (because[i] == nullptr) continue;
    return invalid_argument(
        fmt::format("output '{}' of node '{}': its shape depends on data (through {}{}); a port needs a fixed shape",
                    graph.outputs()[i].name, graph.name(), because[i]->op(), behind(because[i]->location())));
  }
  return {};
}

void warn_of_those_that_stay(const std::vector<DataLength>& found, const std::string& node, Logger& log) {
  std::set<Line> warned;
  for (const DataLength& length : found) {
    if (length.why.empty() || !warned.insert(place_of(length.where)).second) continue;
    log.warning(
        fmt::format("{}the shape of the result of {} in node '{}' depends on data. Its length is fixed in everything "
                    "the program computes from it, which cannot be computed for all elements instead: {}{}",
                    before(length.where), length.op, node, length.why, behind(length.there)));
  }
}

std::optional<double> number_of(const graph::Node& node) {
  for (const char* name : {"other", "value", "fill_value"}) {
    const graph::Attribute* given = node.find(name);
    if (given == nullptr) continue;
    if (const auto* number = std::get_if<std::int64_t>(given)) return static_cast<double>(*number);
    if (const auto* number = std::get_if<double>(given)) return *number;
  }
  return std::nullopt;
}

/// x / len(ids): the model would divide by the number that was recorded. Another call would show it.
void warn_of_like_numbers(const std::vector<DataLength>& found, const graph::Graph& graph, Logger& log) {
  std::set<Line> warned;
  for (const auto& node : graph.nodes()) {
    const auto number = number_of(*node);
    if (!number) continue;
    for (const DataLength& length : found) {
      const bool like = length.why.empty() && length.length > 1 && static_cast<double>(length.length) == *number;
      if (!like || !warned.insert(place_of(node->location())).second) continue;
      log.warning(fmt::format(
          "{}{} in node '{}' uses the number {}, which is how many elements {}{} chose in the only "
          "call. If it is that length it is baked into the model: use the sum of the mask, or run "
          "another pass with another length to show that it is not",
          before(node->location()), node->qualified_name(), graph.name(), *number, length.op, behind(length.where)));
    }
  }
}

/// Writes to a part of what has no elements leave no trace.
void warn_of_nothing_chosen(const std::vector<DataLength>& found, const std::string& node, Logger& log) {
  std::set<Line> warned;
  for (const DataLength& length : found) {
    if (!length.why.empty() || length.length != 0 || !warned.insert(place_of(length.where)).second) continue;
    log.warning(
        fmt::format("{}{} in node '{}' chose nothing in the only call: what the program does to parts of what it "
                    "chooses may be missing in the model. Run a pass in which it chooses something",
                    before(length.where), length.op, node));
  }
}

}  // namespace

Status fix_lengths(graph::Graph& graph, std::size_t calls, Logger& log) {
  if (!graph::has_data_lengths(graph)) return {};
  LEAPP_RETURN_IF_ERROR(simplify(graph, {.keep_empty = true}));
  std::vector<DataLength> found;
  graph::write_rows_densely(graph, &found);
  LEAPP_RETURN_IF_ERROR(check_outputs(graph));
  warn_of_those_that_stay(found, graph.name(), log);
  if (calls == 1) warn_of_like_numbers(found, graph, log);
  if (calls == 1) warn_of_nothing_chosen(found, graph.name(), log);
  return {};
}

}  // namespace leapp::exporter
