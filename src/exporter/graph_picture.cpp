// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "draw/bundle_picture.h"
#include "graph/conditional.h"
#include "graph/literals.h"
#include "graph/loop.h"
#include "graph/text.h"

namespace leapp::exporter {
namespace {

constexpr std::uintmax_t kLargestSource = 4 << 20;
constexpr std::size_t kLongestLine = 240;
constexpr std::size_t kPreviewElements = 6;

/// The lines of source files, read once each.
class SourceFiles {
 public:
  /// Without the indentation; empty when the file or the line is not there.
  std::string line(const std::string& file, int number) {
    auto [entry, fresh] = files_.try_emplace(file);
    if (fresh) entry->second = read(file);
    if (number < 1 || static_cast<std::size_t>(number) > entry->second.size()) return "";
    std::string text = entry->second[static_cast<std::size_t>(number) - 1];
    text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
    return text.size() > kLongestLine || !is_utf8(text) ? "" : text;
  }

 private:
  static std::vector<std::string> read(const std::string& file) {
    std::error_code error;
    // Of anything but a regular file even opening could block.
    if (!std::filesystem::is_regular_file(file, error)) return {};
    if (std::filesystem::file_size(file, error) > kLargestSource || error) return {};
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
    return lines;
  }

  std::map<std::string, std::vector<std::string>> files_;
};

std::string arguments_text(const graph::Node& node) {
  std::vector<std::string> parts;
  for (const graph::Argument& argument : node.arguments()) {
    const auto* side = std::get_if<graph::GraphPtr>(&argument.value);
    const std::string value =
        side == nullptr ? graph::print(argument.value) : fmt::format("the {} operators below", (*side)->nodes().size());
    parts.push_back(argument.name + "=" + value);
  }
  return join(parts, ", ");
}

std::uint64_t constant_bytes(const graph::Node& node) {
  std::uint64_t bytes = 0;
  for (const graph::Value* value : node.inputs()) {
    if (value->kind() == graph::ValueKind::kConstant) bytes += value->constant().byte_size();
  }
  return bytes;
}

draw::PictureOperator operator_of(const graph::Node& node, SourceFiles& files) {
  draw::PictureOperator op{
      .op = node.qualified_name(), .arguments = arguments_text(node), .constant_bytes = constant_bytes(node)};
  for (const auto& result : node.results()) {
    op.results.push_back({result->name(), type_text(result->dtype(), result->shape())});
  }
  const graph::SourceLocation& location = node.location();
  if (!location.file.empty()) {
    op.source = {location.file, location.line, location.function, files.line(location.file, location.line)};
  }
  return op;
}

/// The first few elements.
std::string preview(const graph::Constant& constant) {
  const std::size_t size = dtype_size(constant.type.dtype);
  const auto count = static_cast<std::size_t>(graph::element_count(constant.type.shape));
  const std::size_t shown = std::min(count, kPreviewElements);
  if (shown == 0) return "";
  const auto text = graph::print_elements(constant.type.dtype, constant.bytes().first(shown * size));
  return text ? *text + (shown < count ? ", …" : "") : "";
}

/// A branch comes before what its sides hold; `where` says in which sides the graph is.
void add_operators(const graph::Graph& graph, const std::string& where, SourceFiles& files, draw::PictureNode& node) {
  for (const auto& op : graph.nodes()) {
    node.operators.push_back(operator_of(*op, files));
    node.operators.back().op.insert(0, where);
    if (graph::is_loop(*op)) add_operators(*graph::loop_of(*op).body, where + "loop: ", files, node);
    if (!graph::is_conditional(*op)) continue;
    const graph::Conditional branch = graph::conditional_of(*op);
    add_operators(*branch.then_side, where + "then: ", files, node);
    add_operators(*branch.else_side, where + "else: ", files, node);
  }
}

void add_constants(const graph::Graph& graph, std::set<std::pair<std::string, const void*>>& known,
                   draw::PictureNode& node) {
  for (const auto& value : graph.constants()) {
    const graph::Constant& constant = value->constant();
    if (!known.emplace(value->name(), constant.data.get()).second) continue;
    node.constants.push_back({.name = value->name(),
                              .dtype = std::string(dtype_name(constant.type.dtype)),
                              .shape = draw::spaced_shape(constant.type.shape),
                              .bytes = constant.byte_size(),
                              .preview = preview(constant)});
  }
}

}  // namespace

void add_graph(const graph::Graph& graph, draw::PictureNode& node) {
  SourceFiles files;
  node.operators_known = true;
  add_operators(graph, "", files, node);
  std::set<std::pair<std::string, const void*>> known;  // of what a branch and the graph around it share
  graph::for_each_graph(graph, [&](const graph::Graph& each) { add_constants(each, known, node); });
}

}  // namespace leapp::exporter
