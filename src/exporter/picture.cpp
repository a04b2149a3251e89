// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "bundle/folder/file_system.h"
#include "capture/branches/branch_report.h"
#include "draw/bundle_picture.h"
#include "draw/draw.h"
#include "exporter/graph_picture.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

/// The port of "node/port, sample 3: ...", counted over inputs, then outputs.
std::optional<std::size_t> port_in(const draw::PictureNode& node, const std::string& text) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string name = node.name + "/" + node.outputs[i].name;
    if (text.starts_with(name + ",") || text.starts_with(name + ":")) return node.inputs.size() + i;
  }
  return std::nullopt;
}

/// The first operator whose line the text names.
std::optional<std::size_t> operator_in(const draw::PictureNode& node, const std::string& text) {
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    const draw::PictureLine& source = node.operators[i].source;
    if (source.line == 0) continue;
    const std::string place = fmt::format("{}:{}", source.file, source.line);
    const std::size_t at = text.find(place);
    if (at == std::string::npos) continue;
    const std::size_t end = at + place.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return i;
  }
  return std::nullopt;
}

void add_result(const NodeResult& result, const PreparedNode& prepared, draw::PictureNode& node) {
  node.status = result.status;
  std::string message = result.message;
  for (const capture::Divergence& divergence : prepared.record->divergences) {
    node.findings.push_back({Severity::kError, divergence.text, {}, operator_in(node, divergence.text)});
    // It stands at the end of the message too.
    if (const std::size_t at = message.find(divergence.text); at != std::string::npos) {
      message.erase(at, divergence.text.size());
      while (!message.empty() && (message.back() == ' ' || message.back() == '.')) message.pop_back();
    }
  }
  if (message.empty()) return;
  const Severity severity = result.ok() ? Severity::kNote : Severity::kError;
  node.findings.push_back({severity, message, port_in(node, message), {}});
}

/// Which way calls went at lines that branch on data, at what decides there.
void add_guards(const capture::NodeRecord& record, draw::PictureNode& node) {
  for (const auto& [place, count] : record.guard_counts) {
    const std::string text = capture::guard_text(place, count);
    const Severity severity = count.rows || (count.yes > 0 && count.no > 0) ? Severity::kNote : Severity::kWarning;
    node.findings.push_back({severity, text, {}, operator_in(node, text)});
  }
}

void complete(const PreparedNode& prepared, const WrittenBundle& written, draw::PictureNode& node) {
  if (prepared.backend.kind == BackendKind::kGiven) {
    node.operators_note = "The model is a file of the user's own.";
  } else if (prepared.backend.kind == BackendKind::kNone) {
    node.operators_note = "The node has no model.";
  } else {
    add_graph(prepared.graph, node);
    add_guards(*prepared.record, node);
    node.operators_note = "As captured, before the model's format.";
  }
  std::error_code error;
  const auto bytes = fs::file_size(fs::path(written.folder) / node.file, error);
  if (!node.file.empty() && !error) node.bytes = bytes;
}

draw::PipelinePicture picture_of(const WrittenBundle& written) {
  draw::PipelinePicture picture = draw::picture_of(*written.spec, written.name);
  for (draw::PictureNode& node : picture.nodes) {
    for (const PreparedNode& prepared : *written.nodes) {
      if (prepared.record->name != node.name) continue;
      complete(prepared, written, node);
      for (const NodeResult& result : *written.results) {
        if (result.node == node.name) add_result(result, prepared, node);
      }
    }
  }
  return picture;
}

Status try_write(const WrittenBundle& written) {
  LEAPP_ASSIGN_OR_RETURN(const draw::Drawing drawing, draw::draw(picture_of(written), {.png = true, .page = true}));
  const fs::path folder = written.folder;
  LEAPP_RETURN_IF_ERROR(bundle::replace_file(folder / (written.name + ".png"), drawing.png));
  return bundle::replace_file(folder / (written.name + ".html"), drawing.page);
}

}  // namespace

void write_pictures(const WrittenBundle& written, Logger& log) {
  const auto start = std::chrono::steady_clock::now();
  if (const Status status = try_write(written); !status.ok()) {
    log.warning(fmt::format("visualize: no {0}.png and {0}.html, the bundle is complete without them: {1}",
                            written.name, status.message()));
    return;
  }
  const double spent = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  log.info(fmt::format("Pictures: {0}.png, {0}.html, {1:.0f} ms", written.name, spent));
}

}  // namespace leapp::exporter
