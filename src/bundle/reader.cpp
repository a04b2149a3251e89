// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "base/memory.h"
#include "base/text.h"
#include "bundle/port_reader.h"
#include "bundle/yaml/yaml_cursor.h"
#include "bundle/yaml/yaml_tree.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSystemInformation = "system information";
constexpr std::string_view kConfigVersion = "leapp config version";
constexpr std::array<std::string_view, 5> kVersions{"1.0", "1.1", "1.2", "1.3", "1.4"};

bool is_node_name(std::string_view name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == std::string_view::npos &&
         std::none_of(name.begin(), name.end(), control);
}

Result<std::optional<std::string>> optional_text(const YamlCursor& map, std::string_view key) {
  const auto value = map.find(key);
  if (!value || value->is_null()) return std::optional<std::string>();
  LEAPP_ASSIGN_OR_RETURN(std::string text, value->text());
  return std::optional(std::move(text));
}

Result<ModelParameters> read_parameters(const YamlCursor& at) {
  static constexpr std::array<std::string_view, 5> kKnown{"backend", "model_path", "md5sum", "sha256sum",
                                                          "opset_version"};
  ModelParameters parameters;
  if (at.is_null()) return parameters;
  if (!at.is_map()) return at.expected("a map");
  LEAPP_ASSIGN_OR_RETURN(parameters.backend, optional_text(at, "backend"));
  LEAPP_ASSIGN_OR_RETURN(parameters.model_path, optional_text(at, "model_path"));
  LEAPP_ASSIGN_OR_RETURN(parameters.md5sum, optional_text(at, "md5sum"));
  LEAPP_ASSIGN_OR_RETURN(parameters.sha256sum, optional_text(at, "sha256sum"));
  if (const auto opset = at.find("opset_version"); opset && !opset->is_null()) {
    LEAPP_ASSIGN_OR_RETURN(parameters.opset_version, opset->integer());
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (std::find(kKnown.begin(), kKnown.end(), at.key(i)) != kKnown.end()) continue;
    parameters.extra.emplace_back(at.key(i), to_value(at.at(i).node()));
  }
  return parameters;
}

Result<Model> read_model_entry(const std::string& name, const YamlCursor& at) {
  Model model;
  if (name.size() > kLongestName) {
    return data_loss(fmt::format("line {}: models: expected names of at most {} bytes, found one of {}", at.node().line,
                                 kLongestName, name.size()));
  }
  model.name = name;
  if (!is_node_name(name)) {
    return at.error("a node's name must not be empty, '.' or '..' and must have no '/', '\\' or control character");
  }
  LEAPP_RETURN_IF_ERROR(at.only({"inputs", "outputs", "parameters"}));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor inputs, at.get("inputs"));
  LEAPP_ASSIGN_OR_RETURN(model.inputs, read_ports(inputs));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor outputs, at.get("outputs"));
  LEAPP_ASSIGN_OR_RETURN(model.outputs, read_ports(outputs));
  if (const auto parameters = at.find("parameters")) {
    LEAPP_ASSIGN_OR_RETURN(model.parameters, read_parameters(*parameters));
  }
  return model;
}

Result<std::vector<Model>> read_models(const YamlCursor& at) {
  std::vector<Model> models;
  if (!at.is_map()) return at.expected("a map of nodes");
  if (at.size() > kMostNodes) {
    return at.error(fmt::format("expected at most {} nodes, found {}", kMostNodes, at.size()));
  }
  std::size_t ports = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(Model model, read_model_entry(at.key(i), at.at(i)));
    ports += model.inputs.size() + model.outputs.size();
    if (ports > kMostPorts) {
      return at.error(fmt::format("expected at most {} ports of all nodes together, found more", kMostPorts));
    }
    models.push_back(std::move(model));
  }
  return models;
}

// Edges and lists of ports look the same: a name and the names that belong to it.
Result<EdgeMap> read_lists(const YamlCursor& map, std::string_view key) {
  EdgeMap lists;
  const auto at = map.find(key);
  if (!at || at->is_null()) return lists;
  if (!at->is_map()) return at->expected("a map");
  for (std::size_t i = 0; i < at->size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(std::vector<std::string> names, at->at(i).texts());
    lists.emplace_back(at->key(i), std::move(names));
  }
  return lists;
}

Result<Pipeline> read_pipeline(const YamlCursor& at) {
  Pipeline pipeline;
  LEAPP_RETURN_IF_ERROR(at.only({"configs", "data_flow", "feedback_flow", "initial_values", "inputs", "outputs"}));
  if (const auto configs = at.find("configs"); configs && !configs->is_null()) {
    if (!configs->is_map()) return configs->expected("a map");
    pipeline.configs = std::get<YamlMap>(to_value(configs->node()).data);
  }
  LEAPP_ASSIGN_OR_RETURN(pipeline.data_flow, read_lists(at, "data_flow"));
  LEAPP_ASSIGN_OR_RETURN(pipeline.feedback_flow, read_lists(at, "feedback_flow"));
  LEAPP_ASSIGN_OR_RETURN(pipeline.initial_values, optional_text(at, "initial_values"));
  LEAPP_ASSIGN_OR_RETURN(pipeline.inputs, read_lists(at, "inputs"));
  LEAPP_ASSIGN_OR_RETURN(pipeline.outputs, read_lists(at, "outputs"));
  return pipeline;
}

// What others may have written there is none of our business, the version of the format is.
Result<SystemInformation> read_system(const YamlCursor& at) {
  SystemInformation system;
  if (at.is_null()) return system;
  if (!at.is_map()) return at.expected("a map");
  for (std::size_t i = 0; i < at.size(); ++i) {
    const YamlCursor value = at.at(i);
    if (value.node().kind != YamlNode::Kind::kScalar) continue;
    system.emplace_back(at.key(i), value.is_null() ? std::nullopt : std::optional(value.node().text));
  }
  if (const auto version = at.find(kConfigVersion); version && !version->is_null()) {
    const std::string& text = version->node().text;
    if (std::find(kVersions.begin(), kVersions.end(), text) == kVersions.end()) {
      return version->expected(fmt::format("one of {} (a newer bundle needs a newer LEAPP)", join(kVersions, ", ")));
    }
  }
  return system;
}

}  // namespace

namespace {

Result<BundleSpec> read_spec(std::string_view text) {
  LEAPP_ASSIGN_OR_RETURN(const YamlNode tree, parse_yaml(text));
  const YamlCursor root(tree, "");
  BundleSpec spec;
  // The version first: of a newer bundle nothing else can be judged.
  if (root.is_map()) {
    if (const auto system = root.find(kSystemInformation)) {
      LEAPP_ASSIGN_OR_RETURN(spec.system_information, read_system(*system));
    }
  }
  LEAPP_RETURN_IF_ERROR(root.only({"models", "pipeline", kSystemInformation}));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor models, root.get("models"));
  LEAPP_ASSIGN_OR_RETURN(spec.models, read_models(models));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor pipeline, root.get("pipeline"));
  LEAPP_ASSIGN_OR_RETURN(spec.pipeline, read_pipeline(pipeline));
  return spec;
}

}  // namespace

Result<BundleSpec> parse_bundle(std::string_view text) {
  return without_exceptions([&] { return read_spec(text); });
}

namespace {

bool leads_out(const fs::path& file) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(file, error))) return false;
  const fs::path folder = fs::canonical(file.has_parent_path() ? file.parent_path() : fs::path("."), error);
  const fs::path real = error ? fs::path() : fs::canonical(file, error);
  return error || std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first != folder.end();
}

// "line 3: models.x: ..." -> "line 3".
std::string place_of(const std::string& message) {
  const bool has_line = message.starts_with("line ");
  return has_line ? message.substr(0, message.find(':')) : "somewhere";
}

}  // namespace

Result<fs::path> locate_bundle(const fs::path& bundle) {
  std::error_code error;
  if (!fs::is_directory(bundle, error)) return bundle;
  const fs::path written = bundle.has_filename() ? bundle : bundle.parent_path();
  const fs::path real = fs::canonical(bundle, error);
  std::vector<std::string> names;
  for (const fs::path& name : {written.filename(), real.filename()}) {
    std::string yaml = name.string() + ".yaml";
    if (name.empty() || name == "." || name == ".." || (!names.empty() && names.back() == yaml)) continue;
    if (fs::exists(fs::symlink_status(bundle / yaml, error))) return bundle / yaml;
    names.push_back(std::move(yaml));
  }
  return not_found(
      fmt::format("{} is not a bundle: expected {} in it, found none", bundle.string(), join(names, " or ")));
}

Result<BundleSpec> read_bundle(const fs::path& file, const FileOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(file, kLargestYaml));
  if (options.inspect) LEAPP_RETURN_IF_ERROR(options.inspect(file, bytes));
  if (options.inspect) LEAPP_RETURN_IF_ERROR(options.inspect(file, bytes));
  auto spec = parse_bundle({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (spec.ok()) return spec;
  const std::string& message = spec.status().message();
  if (!leads_out(file)) return Status(spec.status().code(), fmt::format("{}: {}", file.string(), message));
  return Status(spec.status().code(),
                fmt::format("{}: {}: not what a bundle has there; the file is a link that leads out of its folder, so "
                            "what it says is not shown",
                            file.string(), place_of(message)));
}

}  // namespace leapp::bundle
