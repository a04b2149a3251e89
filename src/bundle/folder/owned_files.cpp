// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/owned_files.h"

#include <optional>
#include <set>

#include "base/log.h"
#include "bundle/folder/file_system.h"
#include "bundle/yaml/yaml_cursor.h"
#include "bundle/yaml/yaml_tree.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

void insert_inside(std::set<std::string>& names, const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename() || normal.is_absolute() || *normal.begin() == ".." || normal == ".") return;
  if (normal != Logger::kFileName) names.insert(normal.string());
}

void insert_model(std::set<std::string>& names, const YamlCursor& model) {
  const auto parameters = model.is_map() ? model.find("parameters") : std::nullopt;
  const auto path = parameters && parameters->is_map() ? parameters->find("model_path") : std::nullopt;
  const auto text = path ? path->text() : Result<std::string>(Status());
  if (!text.ok()) return;
  insert_inside(names, text.value());
  if (fs::path(text.value()).extension() == ".onnx") insert_inside(names, text.value() + ".data");
}

// Someone else's YAML, or half a file: then its models are not known to be ours, and stay.
void insert_models(std::set<std::string>& names, const fs::path& yaml) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(yaml, error))) return;
  const auto bytes = read_file(yaml, kLargestYaml);
  if (!bytes.ok()) return;
  const auto tree = parse_yaml({reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()});
  if (!tree.ok()) return;
  const YamlCursor root(tree.value(), "");
  const auto models = root.is_map() ? root.find("models") : std::nullopt;
  if (!models || !models->is_map()) return;
  for (std::size_t i = 0; i < models->size(); ++i) insert_model(names, models->at(i));
}

}  // namespace

std::vector<std::string> files_of_bundle(const fs::path& folder, std::string_view name) {
  std::set<std::string> names;
  for (const char* suffix : {".yaml", ".png", ".html", "_initial_values.safetensors", "_report.json", ".manifest"}) {
    names.insert(std::string(name) + suffix);
    names.insert(part_of(std::string(name) + suffix).string());  // of an export that was killed
  }
  insert_models(names, folder / (std::string(name) + ".yaml"));
  return {names.begin(), names.end()};
}

}  // namespace leapp::bundle
