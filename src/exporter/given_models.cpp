// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/given_models.h"

#include <fmt/format.h>

#include <fstream>
#include <span>
#include <utility>

#include "base/hash.h"
#include "leapp/bundle/reader.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path, const std::string& node) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  std::string bytes(size < 0 ? 0 : static_cast<std::size_t>(size), '\0');
  if (size >= 0) file.seekg(0).read(bytes.data(), size);
  if (!file) return io_error(fmt::format("node '{}': cannot read the model {}", node, path.string()));
  return bytes;
}

}  // namespace

std::string GivenModels::name_for(const fs::path& file, const std::string& node) {
  std::string name = file.filename().string();
  for (int i = 1; !taken_.insert(name).second; ++i) {
    name = fmt::format("{}_{}{}", node, i == 1 ? "" : std::to_string(i) + "_", file.filename().string());
  }
  return name;
}

Status GivenModels::add(const PreparedNode& node, bundle::StagedFolder& folder, bundle::ModelParameters& parameters) {
  const fs::path& file = node.backend.model_path;
  LEAPP_ASSIGN_OR_RETURN(const std::string bytes, read_file(file, node.record->name));
  LEAPP_ASSIGN_OR_RETURN(const Digests digests, digest_bytes(std::as_bytes(std::span(bytes))));
  parameters.backend = node.backend.format_name();
  parameters.md5sum = digests.md5;
  parameters.sha256sum = digests.sha256;
  std::error_code failure;
  const fs::path real = fs::canonical(file, failure);
  if (failure)
    return io_error(fmt::format("node '{}': model {}: {}", node.record->name, file.string(), failure.message()));
  if (!node.backend.copy_original_model) {
    parameters.model_path = fs::relative(real, target_, failure).string();
    if (failure)
      return io_error(fmt::format("node '{}': no path leads from the bundle to {}", node.record->name, file.string()));
    referenced_.insert(*parameters.model_path);
    return {};
  }
  const auto before = copied_.find(real);
  parameters.model_path = before == copied_.end() ? name_for(file, node.record->name) : before->second;
  if (before != copied_.end()) {
    parameters.extra = data_[real];
    return {};
  }
  copied_[real] = *parameters.model_path;
  LEAPP_RETURN_IF_ERROR(folder.write(*parameters.model_path, bytes));
  // Weights of a large ONNX model stand beside it, in a file that it names.
  const fs::path weights = file.string() + ".data";
  if (file.extension() != ".onnx" || !fs::is_regular_file(weights, failure)) return {};
  LEAPP_ASSIGN_OR_RETURN(const std::string data, read_file(weights, node.record->name));
  LEAPP_ASSIGN_OR_RETURN(const Digests sums, digest_bytes(std::as_bytes(std::span(data))));
  parameters.extra = data_[real] = bundle::external_data_entry(weights.filename().string(), sums.sha256);
  return folder.write(weights.filename().string(), data);
}

}  // namespace leapp::exporter
