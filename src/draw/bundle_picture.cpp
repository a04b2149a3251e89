// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/bundle_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "leapp/bundle/port_entry.h"

namespace leapp::draw {
namespace {

constexpr std::size_t kLongestFact = 400;  // bytes; a picture is no place for more

struct ValueText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const bundle::YamlList& list) const {
    std::vector<std::string> parts;
    for (const bundle::YamlValue& value : list) parts.push_back(std::visit(*this, value.data));
    return "[" + join(parts, ", ") + "]";
  }
  std::string operator()(const bundle::YamlMap& map) const {
    std::vector<std::string> parts;
    for (const auto& [key, value] : map) parts.push_back(key + ": " + std::visit(*this, value.data));
    return "{" + join(parts, ", ") + "}";
  }
};

std::string value_text(const bundle::YamlValue& value) {
  std::string text = std::visit(ValueText(), value.data);
  if (text.size() <= kLongestFact) return text;
  std::size_t end = kLongestFact;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + " …";
}

std::string element_text(const bundle::Port& port) {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < port.element_names->size(); ++i) {
    const bundle::AxisNames& names = (*port.element_names)[i];
    if (port.temporal_axis && port.temporal_axis->axis == i) {
      axes.push_back(fmt::format("moments {} ms apart", port.temporal_axis->period_ms));
    } else {
      axes.push_back(names ? join(*names, ", ") : "unnamed");
    }
  }
  return join(axes, " × ");
}

PicturePort port_of(const bundle::Port& port) {
  PicturePort result{.name = port.name,
                     .dtype = std::string(dtype_name(port.dtype)),
                     .shape = spaced_shape(port.shape),
                     .kind = port.kind.value_or("")};
  if (port.element_names) result.facts.emplace_back("elements", element_text(port));
  for (const auto& [key, value] : bundle::semantics_entry(port)) {
    if (key != "kind" && key != "element_names" && key != "temporal_period_ms") {  // drawn above in words
      result.facts.emplace_back(key, value_text(value));
    }
  }
  return result;
}

PictureNode node_of(const bundle::Model& model) {
  PictureNode node{.name = model.name,
                   .backend = model.parameters.backend.value_or(""),
                   .file = model.parameters.model_path.value_or("")};
  for (const bundle::Port& port : model.inputs) node.inputs.push_back(port_of(port));
  for (const bundle::Port& port : model.outputs) node.outputs.push_back(port_of(port));
  if (model.parameters.opset_version)
    node.facts.emplace_back("opset", fmt::format("{}", *model.parameters.opset_version));
  return node;
}

/// Finds ports by name; what is not there becomes a finding.
class Wiring {
 public:
  explicit Wiring(PipelinePicture& picture) : picture_(picture) {}

  void add_edges(const bundle::EdgeMap& edges, bool feedback) {
    for (const auto& [source, targets] : edges) {
      const auto from = find(source, true);
      for (const std::string& target : targets) {
        const auto to = find(target, false);
        if (from && to) picture_.edges.push_back({from->first, from->second, to->first, to->second, feedback});
      }
    }
  }

  void mark_external(const bundle::NodePorts& nodes, bool output) {
    for (const auto& [node, names] : nodes) {
      for (const std::string& name : names) {
        const auto at = find(node + "/" + name, output);
        if (!at) continue;
        PictureNode& owner = picture_.nodes[at->first];
        (output ? owner.outputs : owner.inputs)[at->second].external = true;
      }
    }
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;

  std::optional<Place> find(const std::string& text, bool output) {
    const std::size_t slash = text.find('/');
    const std::string node = text.substr(0, slash);
    const std::string port = slash == std::string::npos ? "" : text.substr(slash + 1);
    for (std::size_t i = 0; i < picture_.nodes.size(); ++i) {
      if (picture_.nodes[i].name != node) continue;
      const auto& ports = output ? picture_.nodes[i].outputs : picture_.nodes[i].inputs;
      for (std::size_t k = 0; k < ports.size(); ++k) {
        if (ports[k].name == port) return Place{i, k};
      }
    }
    picture_.findings.push_back(
        {Severity::kError,
         fmt::format("the wiring names the {} {}, which is not there", output ? "output" : "input", quote(text)),
         {},
         {}});
    return std::nullopt;
  }

  PipelinePicture& picture_;
};

}  // namespace

PipelinePicture picture_of(const bundle::BundleSpec& spec, const std::string& name) {
  PipelinePicture picture{.name = name};
  for (const bundle::Model& model : spec.models) picture.nodes.push_back(node_of(model));
  for (const auto& [key, value] : spec.pipeline.configs) {
    picture.facts.emplace_back(key, value_text(value) + (key == "frequency" ? " Hz" : ""));
  }
  Wiring wiring(picture);
  wiring.add_edges(spec.pipeline.data_flow, false);
  wiring.add_edges(spec.pipeline.feedback_flow, true);
  wiring.mark_external(spec.pipeline.inputs, false);
  wiring.mark_external(spec.pipeline.outputs, true);
  return picture;
}

std::string spaced_shape(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

PictureLine parse_line(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  int line = 0;
  if (colon != std::string::npos && colon > 0) {
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data() + colon + 1, end, line);
    if (error == std::errc() && read == end && line > 0) return {text.substr(0, colon), line, "", ""};
  }
  return {"", 0, "", text};
}

}  // namespace leapp::draw
