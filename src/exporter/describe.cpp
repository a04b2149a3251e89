// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/describe.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>

#include "bundle/files/safetensors.h"
#include "capture/hook/unrecorded.h"
#include "capture/recorder/tensor_content.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/format.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

constexpr std::string_view kConfigVersion = "leapp config version";

bundle::Port port_of(const capture::PortRecord& record) {
  bundle::Port port;
  port.name = record.name;
  port.dtype = to_dtype(record.type.dtype).value_or(DType::kFloat32);
  port.shape.assign(record.type.sizes.begin(), record.type.sizes.end());
  static_cast<bundle::Semantics&>(port) = record.semantics;
  return port;
}

std::string operating_system() {
  std::ifstream file("/etc/os-release");
  std::map<std::string, std::string> fields;
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    fields[line.substr(0, equals)] = value;
  }
  return fields.contains("NAME") ? fields["NAME"] + " " + fields["VERSION_ID"] : "Linux";
}

bundle::SystemInformation system_information(const capture::CaptureResult& recording) {
  const std::string& python = recording.options.python_version;
  const std::string& torch = recording.options.torch_version;
  return {{"cuda version", std::nullopt},
          {std::string(kConfigVersion), "1.1"},
          {"leapp version", LEAPP_VERSION},
          {"os", operating_system()},
          {"python version", python.empty() ? std::nullopt : std::optional(python)},
          {"torch version", torch.empty() ? TORCH_VERSION : torch}};
}

void add_edge(bundle::EdgeMap& edges, const std::string& from, const std::string& to) {
  const auto found = std::find_if(edges.begin(), edges.end(), [&](const auto& edge) { return edge.first == from; });
  if (found == edges.end()) {
    edges.push_back({from, {to}});
  } else {
    found->second.push_back(to);
  }
}

std::size_t edge_count(const bundle::EdgeMap& edges) {
  std::size_t count = 0;
  for (const auto& [from, to] : edges) count += to.size();
  return count;
}

std::size_t port_count(const bundle::NodePorts& nodes) {
  std::size_t count = 0;
  for (const auto& [node, ports] : nodes) count += ports.size();
  return count;
}

// Keys of a port that came with 1.4. They are written as they are given, beside those of the user's.
bool has_structure(const std::vector<bundle::Port>& ports) {
  constexpr std::array<std::string_view, 4> kKeys{"axes", "is_setpoint", "reference", "expressed_in"};
  return std::any_of(ports.begin(), ports.end(), [&](const bundle::Port& port) {
    return std::any_of(port.extra.begin(), port.extra.end(), [&](const auto& entry) {
      return std::find(kKeys.begin(), kKeys.end(), entry.first) != kKeys.end();
    });
  });
}

bool has_temporal_axis(const std::vector<bundle::Port>& ports) {
  return std::any_of(ports.begin(), ports.end(), [](const bundle::Port& port) { return port.temporal_axis; });
}

}  // namespace

void set_config_version(bundle::BundleSpec& spec) {
  std::string_view version = spec.pipeline.configs.empty() ? "1.1" : "1.3";
  const auto needs = [&](std::string_view since) { version = std::max(version, since); };
  for (const bundle::Model& model : spec.models) {
    if (const auto format = model.parameters.format()) needs(bundle::format_info(*format).since);
    if (has_temporal_axis(model.inputs) || has_temporal_axis(model.outputs)) needs("1.3");
    if (has_structure(model.inputs) || has_structure(model.outputs)) needs("1.4");
  }
  for (auto& [key, value] : spec.system_information) {
    if (key == kConfigVersion) value = version;
  }
}

std::vector<std::size_t> run_order(const std::vector<PreparedNode>& nodes) {
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < nodes.size(); ++i) position[nodes[i].record->name] = i;
  std::vector<std::size_t> order;
  std::vector<bool> placed(nodes.size(), false);
  // Each round takes every node whose producers are placed, in the order in which the nodes first ran.
  while (order.size() < nodes.size()) {
    const std::size_t before = order.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (placed[i]) continue;
      const auto waits = [&](std::size_t input) {
        const auto& source = nodes[i].record->inputs[input].source;
        return source && !source->feedback && !placed[position.at(source->node)];
      };
      if (std::any_of(nodes[i].inputs.begin(), nodes[i].inputs.end(), waits)) continue;
      placed[i] = true;
      order.push_back(i);
    }
    if (order.size() == before) break;  // cannot happen: an input's producer closed before its node opened
  }
  return order;
}

namespace {

/// "node/port" of an output, as the YAML calls it.
std::string output_key(const std::vector<PreparedNode>& nodes, const capture::Source& source) {
  const PreparedNode& node = named(nodes, source.node);
  const auto& outputs = node.record->outputs;
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const capture::PortRecord& output) { return output.name == source.port; });
  return source.node + "/" + node.output_names.at(static_cast<std::size_t>(found - outputs.begin()));
}

bundle::Model model_of(const PreparedNode& node) {
  bundle::Model model;
  model.name = node.record->name;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    model.inputs.push_back(port_of(node.record->inputs[node.inputs[i]]));
    model.inputs.back().name = node.input_names[i];
  }
  for (std::size_t i = 0; i < node.record->outputs.size(); ++i) {
    model.outputs.push_back(port_of(node.record->outputs[i]));
    model.outputs.back().name = node.output_names[i];
  }
  return model;
}

}  // namespace

namespace {

/// Outputs that are read, and whether by something else than feedback inputs of their own node.
using Readers = std::map<std::string, bool>;

/// Lists what the caller gets: what nobody reads, and what was announced and only its own node reads in the next step.
void list_outputs(const std::vector<PreparedNode>& nodes, const Readers& readers, bundle::BundleSpec& spec) {
  for (const bundle::Model& model : spec.models) {
    const auto& outputs = named(nodes, model.name).record->outputs;
    std::vector<std::string> published;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto found = readers.find(model.name + "/" + model.outputs[i].name);
      const bool listed = found == readers.end() || (!outputs[i].state && !found->second);
      if (listed) published.push_back(model.outputs[i].name);
    }
    if (!published.empty()) spec.pipeline.outputs.push_back({model.name, std::move(published)});
  }
}

/// Says of an output whether it is state, where its edges would tell a reader otherwise.
void mark_states(const std::vector<PreparedNode>& nodes, bundle::BundleSpec& spec) {
  for (std::size_t node = 0; node < spec.models.size(); ++node) {
    bundle::Model& model = spec.models[node];
    const auto& outputs = named(nodes, model.name).record->outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string key = model.name + "/" + model.outputs[i].name;
      const auto leaves = [&](const auto& row) { return row.first == key; };
      const auto& later = spec.pipeline.feedback_flow;
      const auto& now = spec.pipeline.data_flow;
      const bool asked =
          std::any_of(later.begin(), later.end(), leaves) && std::none_of(now.begin(), now.end(), leaves);
      if (asked && bundle::is_state_output(spec, {node, i}) != outputs[i].state)
        model.outputs[i].extra.emplace_back(bundle::kStateKey, outputs[i].state);
    }
  }
}

}  // namespace

bundle::BundleSpec describe(const std::vector<PreparedNode>& nodes, const capture::CaptureResult& recording) {
  bundle::BundleSpec spec;
  Readers readers;
  for (const std::size_t at : run_order(nodes)) {
    const PreparedNode& node = nodes[at];
    std::vector<std::string> external;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& source = node.record->inputs[node.inputs[i]].source;
      if (!source) {
        external.push_back(node.input_names[i]);
        continue;
      }
      const std::string from = output_key(nodes, *source);
      bool& others = readers[from];
      others = others || !source->feedback || source->node != node.record->name;
      add_edge(source->feedback ? spec.pipeline.feedback_flow : spec.pipeline.data_flow, from,
               node.record->name + "/" + node.input_names[i]);
    }
    if (!external.empty()) spec.pipeline.inputs.push_back({node.record->name, std::move(external)});
    spec.models.push_back(model_of(node));
  }
  list_outputs(nodes, readers, spec);
  mark_states(nodes, spec);
  if (!spec.pipeline.feedback_flow.empty()) {
    spec.pipeline.initial_values = recording.name + "_initial_values.safetensors";
  }
  spec.system_information = system_information(recording);
  return spec;
}

Result<std::vector<std::byte>> initial_values(const std::vector<PreparedNode>& nodes) {
  const capture::Suppress quiet;
  std::vector<graph::Constant> values;
  std::vector<bundle::TensorEntry> entries;
  for (const PreparedNode& node : nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const capture::PortRecord& input = node.record->inputs[node.inputs[i]];
      if (!input.source || !input.source->feedback) continue;
      values.push_back(to_constant(capture::tensor_of(node.record->samples.front().inputs[node.inputs[i]])).value());
      entries.push_back({node.record->name + "/" + node.input_names[i], values.back().type.dtype,
                         values.back().type.shape, values.back().bytes()});
    }
  }
  return bundle::safetensors_bytes(entries);
}

void log_unlisted_outputs(const bundle::BundleSpec& spec, Logger& log) {
  for (const bundle::PortIndex at : bundle::resolve_wiring(spec).wiring.outputs) {
    const bundle::Model& model = spec.models[at.node];
    const std::string& name = model.outputs[at.port].name;
    const bool listed = std::any_of(spec.pipeline.outputs.begin(), spec.pipeline.outputs.end(), [&](const auto& row) {
      return row.first == model.name && std::find(row.second.begin(), row.second.end(), name) != row.second.end();
    });
    if (listed) continue;
    log.info(
        fmt::format("output '{}' of node '{}' is only fed back to other nodes, so pipeline.outputs does not list it; "
                    "run_policy and Pipeline::output still return it",
                    name, model.name));
  }
}

void log_statistics(const bundle::BundleSpec& spec, Logger& log) {
  const std::size_t internal = edge_count(spec.pipeline.data_flow) + edge_count(spec.pipeline.feedback_flow);
  const std::size_t inputs = port_count(spec.pipeline.inputs);
  const std::size_t outputs = port_count(spec.pipeline.outputs);
  log.info(fmt::format("Computation nodes: {}", spec.models.size()));
  log.info(fmt::format("Dangling inputs: {}", inputs));
  log.info(fmt::format("Dangling outputs: {}", outputs));
  log.info(fmt::format("Internal connections: {}", internal));
  log.info(fmt::format("Total edges: {}", internal + inputs + outputs));
}

}  // namespace leapp::exporter
