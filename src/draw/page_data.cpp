// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "draw/boxes.h"
#include "draw/page.h"

namespace leapp::draw {
namespace {

using Json = nlohmann::ordered_json;

Json facts_json(const std::vector<Fact>& facts) {
  Json json = Json::array();
  for (const auto& [label, text] : facts) json.push_back({label, text});
  return json;
}

Json findings_json(const std::vector<PictureFinding>& findings) {
  Json json = Json::array();
  for (const PictureFinding& finding : findings) {
    Json entry = {{"severity", severity_text(finding.severity)}, {"text", finding.text}};
    if (finding.port) entry["port"] = *finding.port;
    if (finding.op) entry["op"] = *finding.op;
    json.push_back(std::move(entry));
  }
  return json;
}

Json ports_json(const std::vector<PicturePort>& ports) {
  Json json = Json::array();
  for (const PicturePort& port : ports) {
    json.push_back({{"name", port.name},
                    {"type", port.dtype + " " + port.shape},
                    {"kind", port.kind},
                    {"external", port.external},
                    {"facts", facts_json(port.facts)}});
  }
  return json;
}

/// Lines of the user's program, each once: many operators come from one line.
class Lines {
 public:
  int index_of(const PictureLine& line) {
    if (line.file.empty() && line.text.empty()) return -1;
    const auto [entry, fresh] =
        indices_.emplace(std::tuple(line.file, line.line, line.function), static_cast<int>(json_.size()));
    if (fresh) {
      json_.push_back({{"file", line.file}, {"line", line.line}, {"function", line.function}, {"text", line.text}});
    }
    return entry->second;
  }
  Json take() { return std::move(json_); }

 private:
  std::map<std::tuple<std::string, int, std::string>, int> indices_;
  Json json_ = Json::array();
};

Json operators_json(const std::vector<PictureOperator>& operators, Lines& lines) {
  Json json = Json::array();
  for (const PictureOperator& op : operators) {
    Json results = Json::array();
    for (const PictureValue& value : op.results) results.push_back({value.name, value.type});
    Json entry = {{"op", op.op}, {"arguments", op.arguments}, {"results", std::move(results)}};
    if (const int line = lines.index_of(op.source); line >= 0) entry["line"] = line;
    if (op.constant_bytes != 0) entry["size"] = bytes_text(op.constant_bytes);
    json.push_back(std::move(entry));
  }
  return json;
}

Json constants_json(const std::vector<PictureConstant>& constants) {
  Json json = Json::array();
  for (const PictureConstant& constant : constants) {
    json.push_back({{"name", constant.name},
                    {"type", constant.dtype + " " + constant.shape},
                    {"size", bytes_text(constant.bytes)},
                    {"preview", constant.preview}});
  }
  return json;
}

Json node_json(const PictureNode& node, Lines& lines) {
  Json json = {{"name", node.name}, {"backend", node.backend}, {"file", node.file}};
  json["status"] = node.status ? check_status_name(*node.status) : "";
  if (node.bytes) json["size"] = bytes_text(*node.bytes);
  if (node.microseconds) json["microseconds"] = *node.microseconds;
  json["inputs"] = ports_json(node.inputs);
  json["outputs"] = ports_json(node.outputs);
  json["operatorsKnown"] = node.operators_known;
  json["operatorsNote"] = node.operators_note;
  json["operators"] = operators_json(node.operators, lines);
  json["constants"] = constants_json(node.constants);
  json["findings"] = findings_json(node.findings);
  json["facts"] = facts_json(node.facts);
  return json;
}

}  // namespace

std::string page_data(const PipelinePicture& picture) {
  Lines lines;
  Json json = {{"name", picture.name}, {"facts", facts_json(picture.facts)}};
  json["findings"] = findings_json(picture.findings);
  json["nodes"] = Json::array();
  for (const PictureNode& node : picture.nodes) json["nodes"].push_back(node_json(node, lines));
  json["edges"] = Json::array();
  for (const PictureEdge& edge : picture.edges) {
    json["edges"].push_back({{"from", {edge.from_node, edge.from_port}},
                             {"to", {edge.to_node, edge.to_port}},
                             {"feedback", edge.feedback}});
  }
  json["lines"] = lines.take();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace leapp::draw
