// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/onnx_metadata.h"

#include "bundle/yaml/json.h"
#include "leapp/bundle/port_entry.h"

namespace leapp::exporter {

std::vector<std::pair<std::string, std::string>> onnx_metadata(const bundle::Model& model,
                                                               const bundle::YamlMap& configs) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto add = [&](const std::string& key, const bundle::YamlValue& value) {
    found.emplace_back(key, bundle::json_text(value));
  };
  for (const auto& [key, value] : configs) add("leapp." + key, value);
  const auto add_ports = [&](const std::string& direction, const std::vector<bundle::Port>& ports) {
    for (const bundle::Port& port : ports) {
      const std::string prefix = "leapp." + direction + "." + port.name + ".";
      for (const auto& [key, value] : bundle::semantics_entry(port)) add(prefix + key, value);
    }
  };
  add_ports("inputs", model.inputs);
  add_ports("outputs", model.outputs);
  return found;
}

}  // namespace leapp::exporter
