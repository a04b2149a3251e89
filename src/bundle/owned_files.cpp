// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/owned_files.h"

#include <yaml-cpp/yaml.h>

#include <exception>
#include <fstream>
#include <set>

#include "base/log.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestYaml = std::uintmax_t{16} << 20;

void insert_inside(std::set<std::string>& names, const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename() || normal.is_absolute() || *normal.begin() == ".." || normal == ".") return;
  if (normal != Logger::kFileName) names.insert(normal.string());
}

void insert_models(std::set<std::string>& names, const fs::path& yaml) {
  std::error_code error;
  // Of anything but a regular file (a pipe, say) even opening could block.
  if (!fs::is_regular_file(yaml, error) || fs::file_size(yaml, error) > kLargestYaml || error) return;
  std::ifstream file(yaml, std::ios::binary);
  const YAML::Node root = YAML::Load(file);
  if (!root.IsMap() || !root["models"].IsMap()) return;
  for (const auto& model : root["models"]) {
    if (!model.second.IsMap() || !model.second["parameters"].IsMap()) continue;
    const YAML::Node path = model.second["parameters"]["model_path"];
    if (!path.IsScalar()) continue;
    insert_inside(names, path.Scalar());
    if (fs::path(path.Scalar()).extension() == ".onnx") insert_inside(names, path.Scalar() + ".data");
  }
}

}  // namespace

std::vector<std::string> files_of_bundle(const fs::path& folder, std::string_view name) {
  std::set<std::string> names;
  for (const char* suffix : {".yaml", ".png", ".html", "_initial_values.safetensors", "_report.json", ".manifest"}) {
    names.insert(std::string(name) + suffix);
  }
  try {
    insert_models(names, folder / (std::string(name) + ".yaml"));
  } catch (const std::exception&) {
    // Someone else's YAML, or half a file: then its models are not known to be ours, and stay.
  }
  return {names.begin(), names.end()};
}

}  // namespace leapp::bundle
